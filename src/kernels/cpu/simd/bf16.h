// Sums of products of bf16 pairs in one instruction (AVX512-BF16). Sources named *_bf16_simd.cc are compiled
// for it too, into the namespace avx512_bf16.
#pragma once

namespace tern::cpu {

bool HasBf16Products();     // this machine
bool ActiveBf16Products();  // this machine at the active level, unless switched off
// Tests run with and without. Not while kernels run.
void LimitBf16Products(bool on);
bool Bf16ProductsLimit();  // what was set, at any level; at first whether this machine has them

}  // namespace tern::cpu
