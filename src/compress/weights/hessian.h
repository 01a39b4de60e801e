// Second moments of the inputs of a linear layer, from which the error of its results follows.
#pragma once
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"

namespace tern::compress {

// The sum of xᵀx over rows x. It is, up to a factor, the Hessian of the squared error of the layer's result.
struct Hessian {
  Hessian() = default;
  explicit Hessian(int64_t size) : inputs(size), sum(static_cast<size_t>(size * size)) {}
  // Adds rows [count, inputs].
  void Add(const float* rows, int64_t count, const Workers& workers);
  // Returns the diagonal, divided by the number of rows.
  std::vector<float> Diagonal() const;
  // Returns the mean squared error, over rows, of one output: eᵀ H e / rows for the errors e of its weights.
  double ErrorOf(const float* e) const;

  int64_t inputs = 0, rows = 0;
  std::vector<double> sum;  // [inputs][inputs], symmetric
};

// Returns the upper triangular U with Uᵀ U = (H + damping * mean(diagonal) * I)⁻¹, [inputs][inputs]. An input
// that is always 0 counts as independent of the others.
std::vector<float> InverseFactor(const Hessian& hessian, double damping, const Workers& workers);

}  // namespace tern::compress
