// Dot products of four 8-bit numbers in one instruction (AVX512-VNNI and AVX-VNNI). Sources named
// *_vnni_simd.cc are also compiled for these instruction sets, into the namespaces avx512_vnni and avx2_vnni.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// Whether the build contains the kernels for VNNI.
#if defined(__x86_64__) && !defined(TERN_ONE_ISA)
#define TERN_VNNI_PRODUCTS 1
#else
#define TERN_VNNI_PRODUCTS 0
#endif

// Returns whether the processor has VNNI at this level: AVX512-VNNI at avx512, AVX-VNNI at avx2.
bool HasVnni(SimdLevel level);
// Returns whether kernels use VNNI: HasVnni(ActiveSimd()) and VnniLimit() are true.
bool ActiveVnni();
// Switches VNNI on or off, for tests. Initially it is off if the environment variable TERN_VNNI is 0, and on
// otherwise. Must not be called while kernels run.
void LimitVnni(bool on);
bool VnniLimit();  // returns what LimitVnni set
// Returns an error message if TERN_VNNI is neither 0 nor 1. Otherwise returns an empty string.
const char* VnniProblem();

}  // namespace tern::cpu

// Like TERN_SIMD_TABLE, for the tables of sources named *_vnni_simd.cc. <Name>() returns the table with VNNI
// if ActiveVnni() is true.
#if TERN_VNNI_PRODUCTS
#define TERN_VNNI_TABLE(Type, Name)                                                                      \
  TERN_SIMD_TABLE(Type, Name##Plain)                                                                     \
  namespace avx2_vnni {                                                                                  \
  extern const Type k##Name##Plain;                                                                      \
  }                                                                                                      \
  namespace avx512_vnni {                                                                                \
  extern const Type k##Name##Plain;                                                                      \
  }                                                                                                      \
  inline const Type& Name() {                                                                            \
    if (!ActiveVnni()) return Name##Plain();                                                             \
    return ActiveSimd() == SimdLevel::kAvx512 ? avx512_vnni::k##Name##Plain : avx2_vnni::k##Name##Plain; \
  }
#else
#define TERN_VNNI_TABLE(Type, Name)  \
  TERN_SIMD_TABLE(Type, Name##Plain) \
  inline const Type& Name() { return Name##Plain(); }
#endif
