#include "ops/ml/post_transform.h"

#include <algorithm>
#include <cmath>

namespace tern {
namespace {

void Softmax(std::vector<double>& row) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& v : row) sum += v = std::exp(v - top);
  for (double& v : row) v /= sum;
}

// Scores of zero stay zero and take no share.
void SoftmaxZero(std::vector<double>& row) {
  constexpr double kZero = 1e-7;
  const double top = *std::max_element(row.begin(), row.end()), shrink = std::exp(-top);
  double sum = 0;
  for (double& v : row) {
    if (std::fabs(v) > kZero)
      sum += v = std::exp(v - top);
    else
      v *= shrink;
  }
  for (double& v : row) v /= sum;
}

}  // namespace

double LogisticOf(double v) {
  const double up = 1 / (1 + std::exp(-std::fabs(v)));
  return v < 0 ? 1 - up : up;
}

double ProbitOf(double v) {
  constexpr double kA = 0.147, kPi = 3.14159;
  const double x = 2 * v - 1, log = std::log((1 - x) * (1 + x));
  const double half = 2 / (kPi * kA) + 0.5 * log;
  const double root = std::sqrt(std::sqrt(half * half - log / kA) - half);
  return std::sqrt(2.0) * (x < 0 ? -root : root);
}

void ApplyPostTransform(PostTransform kind, std::vector<double>& row) {
  if (row.empty()) return;
  switch (kind) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
      return Softmax(row);
    case PostTransform::kSoftmaxZero:
      return SoftmaxZero(row);
    case PostTransform::kLogistic:
      for (double& v : row) v = LogisticOf(v);
      return;
    case PostTransform::kProbit:
      for (double& v : row) v = ProbitOf(v);
      return;
  }
}

void FinishScores(PostTransform kind, SecondClass second, std::vector<double>& row) {
  if (row.size() != 1) return ApplyPostTransform(kind, row);
  const double s = row[0];
  if (kind == PostTransform::kProbit)
    row[0] = ProbitOf(s);
  else if (second == SecondClass::kNone)
    return;
  else if (kind == PostTransform::kLogistic)
    row = {LogisticOf(-s), LogisticOf(s)};
  else
    row = {second == SecondClass::kComplement ? 1 - s : -s, s};
}

}  // namespace tern
