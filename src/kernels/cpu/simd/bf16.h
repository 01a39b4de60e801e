// Dot products of bf16 pairs in one instruction (AVX512-BF16). Sources named *_bf16_simd.cc are also compiled
// for this instruction set, into the namespace avx512_bf16.
#pragma once

namespace tern::cpu {

bool HasBf16Products();  // whether the processor has AVX512-BF16
// Returns whether kernels use AVX512-BF16: the active level is avx512 and Bf16ProductsLimit() is true.
bool ActiveBf16Products();
// Switches AVX512-BF16 on or off, for tests. On processors without it, it stays off. Must not be called while
// kernels run.
void LimitBf16Products(bool on);
// Returns what LimitBf16Products set. The initial value is HasBf16Products(). Does not depend on the level.
bool Bf16ProductsLimit();

}  // namespace tern::cpu
