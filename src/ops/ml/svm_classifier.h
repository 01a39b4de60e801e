// SVMClassifier: compares classes pairwise by support vectors, or has one linear function per class. The op's
// reference function and its kernel share this file.
#pragma once
#include "ops/ml/labels.h"
#include "ops/ml/post_transform.h"
#include "ops/ml/svm.h"

namespace tern {

struct SVMClassifier : SvmModel {
  Labels labels;
  std::vector<int64_t> per_class;
  std::vector<float> prob_a, prob_b;
  PostTransform transform = PostTransform::kNone;
  template <class V> void Visit(V& v) {
    SvmModel::Visit(v);
    labels.Visit(v);
    v("per_class", per_class, "number of support vectors of each class; empty means a linear model");
    v("prob_a", prob_a, "slopes that convert a pair's score to a probability; empty means no probabilities");
    v("prob_b", prob_b, "offsets that belong to prob_a");
    v.Enum("transform", transform, PostTransformNames(), "the function applied to each row of scores");
  }
};

struct SvmLayout {
  int64_t classes = 0, pairs = 0, vectors = 0, width = 0;
  bool pairwise = false;       // false if the model is linear
  std::vector<int64_t> start;  // if pairwise, the index of the first support vector of each class, then the
                               // number of support vectors
};

// Derives the layout from the attributes, and checks them.
Result<SvmLayout> LayoutOf(const SVMClassifier& op);

// Returns the number of columns of the output `scores`.
int64_t ScoreCount(const SVMClassifier& op, const SvmLayout& layout);

// Computes one score per pair of classes i < j. part(r, k) must return a sum over the support vectors s of
// class k. Each term is coefficient [r, s] times the kernel function of s and the row of x.
template <class F>
void PairScores(const SVMClassifier& op, const SvmLayout& layout, const F& part, double* scores) {
  size_t pair = 0;
  for (int64_t i = 0; i < layout.classes - 1; ++i)
    for (int64_t j = i + 1; j < layout.classes; ++j, ++pair)
      scores[pair] = part(j - 1, i) + part(i, j) + static_cast<double>(op.rho[pair]);
}

// Converts a row's scores to the ScoreCount() numbers of the output, and returns the class. On entry, there
// is one score per pair of classes, or one per class of a linear model. scores must have capacity for
// RowSize() numbers, and work for WorkSize() numbers.
int64_t FinishRow(const SVMClassifier& op, const SvmLayout& layout, double* scores, double* work);
int64_t RowSize(const SvmLayout& layout);
int64_t WorkSize(const SVMClassifier& op, const SvmLayout& layout);

}  // namespace tern
