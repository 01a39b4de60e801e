// Dot products of bf16 pairs in one instruction (AVX512-BF16). Sources named *_bf16_simd.cc are also compiled
// for this instruction set, into the namespace avx512_bf16.
#pragma once

namespace tern::cpu {

bool HasBf16Products();     // whether the processor has AVX512-BF16
bool ActiveBf16Products();  // whether AVX512-BF16 is in use, which means that the level is avx512 and the
                            // switch below is on
// Switches AVX512-BF16 on or off, for tests. Must not be called while kernels run.
void LimitBf16Products(bool on);
bool Bf16ProductsLimit();  // whether the switch is on, at any level; initially HasBf16Products()

}  // namespace tern::cpu
