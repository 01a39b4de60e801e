// Functions that ai.onnx.ml models apply to a row of scores.
#pragma once
#include <cstddef>
#include <vector>

namespace tern {

enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
inline std::vector<const char*> PostTransformNames() {
  return {"none", "softmax", "logistic", "softmax_zero", "probit"};
}

double LogisticOf(double v);
double ProbitOf(double v);  // by Winitzki's approximation of the inverse error function
void ApplyPostTransform(PostTransform kind, double* row, size_t count);

// How a model with two classes and one score s computes its two columns of scores.
enum class SecondClass {
  kNone,        // there is no second column
  kComplement,  // [1 - s, s]
  kOpposite     // [-s, s]
};
// Applies the transform to a row of scores, and returns the number of scores. If count is 1, the row must
// have capacity for two scores. In this case kProbit transforms the score and adds no column. Other
// transforms add the column that `second` says; if there is one, kLogistic makes both columns probabilities.
// kSoftmax and kSoftmaxZero act like kNone.
size_t FinishScores(PostTransform kind, SecondClass second, double* row, size_t count);
void FinishScores(PostTransform kind, SecondClass second, std::vector<double>& row);

}  // namespace tern
