#include "compress/paired.h"

#include <algorithm>
#include <cmath>

namespace tern::compress {

Result<Answer> AnswerOf(const Tensor& scores, int64_t correct) {
  if (!IsFloat(scores.dtype()) || scores.size() < 1 || scores.rank() < 1 || scores.dim(-1) != scores.size())
    return InvalidArgument("a classifier's output must be one row of float scores, got ", scores.Describe());
  const std::vector<double> values = ToDoubles(scores);
  if (correct >= scores.size() || correct < 0)
    return InvalidArgument("the label ", correct, " is not one of the ", scores.size(), " classes");
  Answer answer;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) return InvalidArgument("the score of class ", i, " is NaN");
    if (values[i] > values[static_cast<size_t>(answer.label)]) answer.label = static_cast<int64_t>(i);
  }
  const double wanted = values[static_cast<size_t>(correct)];
  for (size_t i = 0; i < values.size(); ++i)
    answer.better += values[i] > wanted || (values[i] == wanted && static_cast<int64_t>(i) < correct);
  return answer;
}

void Accuracy::Add(const Answer& answer) {
  ++n;
  top1 += answer.better < 1;
  top5 += answer.better < 5;
}

double BinomialTwoSided(int64_t k, int64_t n) {
  if (n == 0) return 1;
  const int64_t least = std::min(k, n - k);
  double tail = 0;
  for (int64_t i = 0; i <= least; ++i)
    tail += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) -
                     std::lgamma(static_cast<double>(n - i) + 1) - static_cast<double>(n) * std::log(2.0));
  return std::min(1.0, 2 * tail);
}

Paired Compare(const std::vector<Answer>& before, const std::vector<Answer>& after) {
  TERN_CHECK(before.size() == after.size());
  Paired p;
  p.n = static_cast<int64_t>(before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    p.same += before[i].label == after[i].label;
    p.lost += before[i].better == 0 && after[i].better != 0;
    p.gained += before[i].better != 0 && after[i].better == 0;
  }
  if (!p.n) return p;
  p.p = BinomialTwoSided(p.lost, p.lost + p.gained);
  p.change = static_cast<double>(p.gained - p.lost) / static_cast<double>(p.n);
  // Adds half a sample to each cell of the 2 x 2 table. Otherwise the interval has width 0 if no
  // sample is lost or gained.
  const double n = static_cast<double>(p.n) + 2, b = static_cast<double>(p.gained) + 0.5,
               c = static_cast<double>(p.lost) + 0.5;
  const double centre = (b - c) / n, spread = 1.96 * std::sqrt(b + c - (b - c) * (b - c) / n) / n;
  p.change_low = centre - spread;
  p.change_high = centre + spread;
  return p;
}

}  // namespace tern::compress
