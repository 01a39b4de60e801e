// Compares the labels that two classifiers give to the same samples.
#pragma once
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "core/tensor.h"

namespace tern::compress {

// The answer of a classifier to one sample.
struct Answer {
  int64_t label = 0;   // the class with the largest score, or the first of several
  int64_t better = 0;  // number of classes that rank before the correct one
};

// `scores` is a vector of floats, or a matrix of floats with one row. `correct` is the correct class. Fails
// if there are no scores, a score is NaN, or `correct` is not one of the classes.
Result<Answer> AnswerOf(const Tensor& scores, int64_t correct);

struct Accuracy {
  int64_t n = 0, top1 = 0, top5 = 0;  // samples, and how many are correct
  void Add(const Answer& answer);
};

// Two classifiers on the same samples. `before` and `after` are of the same length.
struct Paired {
  int64_t n = 0, same = 0;       // samples, and how many have the same label from both
  int64_t lost = 0, gained = 0;  // samples that only the first, or only the second, labels correctly
  double p = 1;                  // exact two-sided McNemar test: probability of such a difference by chance
  double change = 0;             // (gained - lost) / n
  double change_low = 0, change_high = 0;  // 95 % confidence interval of the change (Agresti and Min)
};
Paired Compare(const std::vector<Answer>& before, const std::vector<Answer>& after);

// Returns the probability of a count as extreme as `k` of `n` under a fair coin, on both sides.
double BinomialTwoSided(int64_t k, int64_t n);

}  // namespace tern::compress
