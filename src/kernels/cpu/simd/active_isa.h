// Names of what kernels run on, for reports and for what is kept on disk: numbers may come to mean other
// things.
#pragma once

namespace tern::cpu {

const char* ActiveIsa();     // of ActiveSimd(): "base", "sse4", "avx2", "avx512"; on 64-bit ARM "neon"
const char* Architecture();  // that the program was built for: "x86_64", "aarch64", "other"

}  // namespace tern::cpu
