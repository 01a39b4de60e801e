// Elementwise functions of one and two tensors.
#pragma once
#include "kernels/cpu/elementwise/broadcast.h"
#include "kernels/cpu/elementwise/kinds.h"

namespace tern::cpu {

// HasUnary and HasBinary return whether there is a loop for this function and element type.
bool HasUnary(UnaryKind kind, DType type);
bool HasBinary(BinaryKind kind, DType type);

// y[i] = kind(x[i]; alpha, beta). y may equal x. isnan writes bools.
void Unary(UnaryKind kind, DType type, const void* x, void* y, int64_t n, float alpha, float beta,
           const Workers& workers);
// y = kind(a, b). The operands of the plan must be a and b, in this order. y may equal an operand that has
// y's dims. Comparisons write bools.
void Binary(BinaryKind kind, DType type, const Broadcast<2>& plan, const void* a, const void* b, void* y,
            const Workers& workers);

// y[i] = min(max(x[i], low), high); if `low` or `high` is null, that limit does not apply.
void Clip(DType type, const void* x, const void* low, const void* high, void* y, int64_t n,
          const Workers& workers);

// Returns whether Cast supports the pair of types.
bool HasCast(DType from, DType to);
void Cast(DType from, DType to, const void* x, void* y, int64_t n, const Workers& workers);

}  // namespace tern::cpu
