// The sum, product, maximum or minimum of any number of tensors, in one pass over memory.
#pragma once
#include <vector>

#include "kernels/cpu/elementwise/broadcast.h"
#include "kernels/cpu/elementwise/kinds.h"

namespace tern::cpu {

struct EltwisePlan {
  BinaryKind step = BinaryKind::kAdd;  // add, mul, max or min
  DType type = DType::kF32;
  int64_t count = 0;                   // elements of y
  std::vector<Broadcast<1>> operands;  // one or more
  std::vector<float> factors;          // one per operand, or empty; only for sums of floats
};

bool HasEltwise(DType type);
// y may equal an operand that has y's dims. f16 and bf16 are computed in f32 and rounded once.
void Eltwise(const EltwisePlan& plan, const void* const* x, void* y, const Workers& workers);

}  // namespace tern::cpu
