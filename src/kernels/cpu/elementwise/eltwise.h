// Any number of tensors joined element by element, in one pass over memory.
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
  std::vector<float> factors;          // one for each operand, or none; for sums of floats
};

bool HasEltwise(DType type);
// y may be an operand that has y's dims. Types of 16 bits are joined in f32 and rounded once.
void Eltwise(const EltwisePlan& plan, const void* const* x, void* y, const Workers& workers);

}  // namespace tern::cpu
