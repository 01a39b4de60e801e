// One source, several instruction sets. Files named *_simd.cc are compiled once for each level, into the
// namespace of that level. Each file defines a table of functions. The table of the active level is selected
// at run time. The only standard header that such files may include is <cstdint>. They may use inline
// functions of -inl.h files only. Everything in them and in -inl.h files, except the tables, must be in an
// anonymous namespace. Otherwise the linker could keep the copy of an inline function that is compiled for
// the newest instructions, which older machines cannot run.
#pragma once
#include <cstdint>

namespace tern::cpu {

// kBase is portable. It uses vector extensions of GCC and clang, without intrinsics. It is compiled for the
// default target, which is SSE2 on x86-64 and NEON on 64-bit ARM. On ARM it is the only level. The CMake
// option TERN_ISA builds the kernels of one level only. It defines the macro TERN_ONE_ISA as the name of that
// level.
enum class SimdLevel : int { kBase = 0, kSse4 = 1, kAvx2 = 2, kAvx512 = 3 };
const char* NameOf(SimdLevel level);  // "base", "sse4", "avx2", "avx512"

SimdLevel BestSimd();  // the best level of this machine
// Returns BestSimd(), or the lower level that LimitSimd or the environment variable TERN_ISA sets. A build
// with one level returns that level.
SimdLevel ActiveSimd();
// Returns an error message if TERN_ISA is neither `amx` nor the name of a level, or if this machine lacks it.
// In a build with one level, returns a message if this machine lacks that level, or if TERN_ISA has another
// value. Otherwise returns an empty string.
const char* SimdProblem();
// Sets the level, for tests. Levels above BestSimd() become BestSimd(). Must not be called while kernels run.
// Has no effect in a build with one level.
void LimitSimd(SimdLevel level);

// Whether the build contains the kernels for AVX512-BF16 (bf16.h).
#if defined(__x86_64__) && !defined(TERN_ONE_ISA)
#define TERN_BF16_PRODUCTS 1
#else
#define TERN_BF16_PRODUCTS 0
#endif

}  // namespace tern::cpu

// Declares the constant k<Name> of each level, and <Name>(), which returns the constant of the active level.
#if defined(TERN_ONE_ISA)
#define TERN_SIMD_TABLE(Type, Name) \
  namespace TERN_ONE_ISA {          \
  extern const Type k##Name;        \
  }                                 \
  inline const Type& Name() { return TERN_ONE_ISA::k##Name; }
#elif defined(__x86_64__)
#define TERN_SIMD_TABLE(Type, Name) \
  namespace base {                  \
  extern const Type k##Name;        \
  }                                 \
  namespace sse4 {                  \
  extern const Type k##Name;        \
  }                                 \
  namespace avx2 {                  \
  extern const Type k##Name;        \
  }                                 \
  namespace avx512 {                \
  extern const Type k##Name;        \
  }                                 \
  inline const Type& Name() {       \
    switch (ActiveSimd()) {         \
      case SimdLevel::kAvx512:      \
        return avx512::k##Name;     \
      case SimdLevel::kAvx2:        \
        return avx2::k##Name;       \
      case SimdLevel::kSse4:        \
        return sse4::k##Name;       \
      default:                      \
        return base::k##Name;       \
    }                               \
  }
#else
#define TERN_SIMD_TABLE(Type, Name) \
  namespace base {                  \
  extern const Type k##Name;        \
  }                                 \
  inline const Type& Name() { return base::k##Name; }
#endif
