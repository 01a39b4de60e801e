// What ai.onnx.ml models do to a row of scores at the end.
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

// A two-class model that has one score: how the second column comes about.
enum class SecondClass {
  kNone,        // there is none
  kComplement,  // [1 - s, s]
  kOpposite     // [-s, s]
};
// Rows of one score get their second column (a logistic gives both its sides), longer rows the transform. The
// row has room for two scores; returns how many there are.
size_t FinishScores(PostTransform kind, SecondClass second, double* row, size_t count);
void FinishScores(PostTransform kind, SecondClass second, std::vector<double>& row);

}  // namespace tern
