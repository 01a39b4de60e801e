// Elementwise functions of one and two tensors.
#pragma once
#include "kernels/cpu/elementwise/broadcast.h"
#include "kernels/cpu/elementwise/kinds.h"

namespace tern::cpu {

// Whether there is a loop for this function and element type.
bool HasUnary(UnaryKind kind, DType type);
bool HasBinary(BinaryKind kind, DType type);

// y[i] = kind(x[i]; alpha, beta). y may be x. isnan gives bools.
void Unary(UnaryKind kind, DType type, const void* x, void* y, int64_t n, float alpha, float beta,
           const Workers& workers);
// y = kind(a, b). The plan must have the operands in this order. y may be an operand that has y's dims.
// Comparisons give bools.
void Binary(BinaryKind kind, DType type, const Broadcast<2>& plan, const void* a, const void* b, void* y,
            const Workers& workers);

// y[i] = min(max(x[i], low), high); a null pointer means no bound.
void Clip(DType type, const void* x, const void* low, const void* high, void* y, int64_t n,
          const Workers& workers);

// Whether Cast supports the pair of types.
bool HasCast(DType from, DType to);
void Cast(DType from, DType to, const void* x, void* y, int64_t n, const Workers& workers);

}  // namespace tern::cpu
