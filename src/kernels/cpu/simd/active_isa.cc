#include "kernels/cpu/simd/active_isa.h"

#include <string_view>

#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

const char* Architecture() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "other";
#endif
}

const char* ActiveIsa() {
  return std::string_view(Architecture()) == "aarch64" ? "neon" : NameOf(ActiveSimd());
}

}  // namespace tern::cpu
