// Inner loops of support vector machines.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// The kernel function of two vectors.
enum class SvmFunction : int {
  kLinear,   // a·b
  kPoly,     // (gamma a·b + coef0)^power
  kRbf,      // exp(-gamma |a - b|²)
  kSigmoid,  // tanh(gamma a·b + coef0)
  kAffine,   // gamma a·b + coef0
};

// Support vectors are packed in panels of kSvmPanel vectors: [panel][feature][kSvmPanel].
constexpr int64_t kSvmPanel = 32;

struct SvmPanels {
  const float* panels = nullptr;
  int64_t count = 0, width = 0;  // number of panels, number of features of a vector
  SvmFunction function = SvmFunction::kLinear;
  float gamma = 0, coef0 = 0;
  int power = 0;  // the power of kPoly, 1 to 16
};

struct SvmTable {
  // Sets y[r][v] to the kernel function of row r of x and support vector v. Row strides are `width` for x and
  // count * kSvmPanel for y.
  void (*similarity)(const SvmPanels& p, const float* x, int64_t rows, float* y);
  // Returns the sum of a[i] * b[i].
  float (*dot)(const float* a, const float* b, int64_t n);
};
TERN_SIMD_TABLE(SvmTable, SvmSimd)

}  // namespace tern::cpu
