#include "ops/ml/post_transform.h"

#include <algorithm>
#include <cmath>

namespace tern {
namespace {

void Softmax(double* row, size_t count) {
  const double top = *std::max_element(row, row + count);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += row[i] = std::exp(row[i] - top);
  for (size_t i = 0; i < count; ++i) row[i] /= sum;
}

// Computes softmax over the scores whose magnitude exceeds kZero. The other scores are not part of the sum.
// They are multiplied by exp(-top) and divided by the sum.
void SoftmaxZero(double* row, size_t count) {
  constexpr double kZero = 1e-7;
  const double top = *std::max_element(row, row + count), shrink = std::exp(-top);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    if (std::fabs(row[i]) > kZero)
      sum += row[i] = std::exp(row[i] - top);
    else
      row[i] *= shrink;
  }
  for (size_t i = 0; i < count; ++i) row[i] /= sum;
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

void ApplyPostTransform(PostTransform kind, double* row, size_t count) {
  if (count == 0) return;
  switch (kind) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
      return Softmax(row, count);
    case PostTransform::kSoftmaxZero:
      return SoftmaxZero(row, count);
    case PostTransform::kLogistic:
      for (size_t i = 0; i < count; ++i) row[i] = LogisticOf(row[i]);
      return;
    case PostTransform::kProbit:
      for (size_t i = 0; i < count; ++i) row[i] = ProbitOf(row[i]);
      return;
  }
}

size_t FinishScores(PostTransform kind, SecondClass second, double* row, size_t count) {
  if (count != 1) {
    ApplyPostTransform(kind, row, count);
    return count;
  }
  const double s = row[0];
  if (kind == PostTransform::kProbit) row[0] = ProbitOf(s);
  if (kind == PostTransform::kProbit || second == SecondClass::kNone) return 1;
  const bool logistic = kind == PostTransform::kLogistic;
  row[0] = logistic ? LogisticOf(-s) : second == SecondClass::kComplement ? 1 - s : -s;
  row[1] = logistic ? LogisticOf(s) : s;
  return 2;
}

void FinishScores(PostTransform kind, SecondClass second, std::vector<double>& row) {
  const size_t count = row.size();
  row.resize(std::max<size_t>(count, 2));
  row.resize(FinishScores(kind, second, row.data(), count));
}

}  // namespace tern
