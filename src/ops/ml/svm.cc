#include "ops/ml/svm.h"

#include <cmath>

namespace tern {

double SimilarityOf(const SvmModel& m, const double* a, const float* b, int64_t size) {
  double sum = 0;
  if (m.kernel == SvmKernel::kRbf) {
    for (int64_t i = 0; i < size; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::exp(-m.gamma * sum);
  }
  for (int64_t i = 0; i < size; ++i) sum += a[i] * b[i];
  if (m.kernel == SvmKernel::kPoly) return std::pow(m.gamma * sum + m.coef0, static_cast<double>(m.degree));
  if (m.kernel == SvmKernel::kSigmoid) return std::tanh(m.gamma * sum + m.coef0);
  return sum;
}

}  // namespace tern
