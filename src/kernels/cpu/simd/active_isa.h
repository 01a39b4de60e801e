// Names of the architecture and the instruction set in use, for reports and files. Unlike enum values, names
// keep their meaning from version to version.
#pragma once

namespace tern::cpu {

const char* ActiveIsa();     // name of ActiveSimd(): "base", "sse4", "avx2", "avx512"; on 64-bit ARM "neon"
const char* Architecture();  // architecture of this build: "x86_64", "aarch64", "other"

}  // namespace tern::cpu
