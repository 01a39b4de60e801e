// Precision of matrix products and convolutions.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tern {

class Target;

enum class Precision : uint8_t {
  kF32,
  // Rounds the operands of attention and of products with weights to bf16, and accumulates in f32. Values
  // between convolutions may be stored as bf16.
  kBf16,
  kAuto,  // bf16 if Target::fast_bf16(), else f32
  // f32 with algorithms that round more than 1e-6 (root mean square, relative) if they are faster: Winograd
  // convolution with tiles of 8 x 8.
  kFast,
};
// For messages about a name that ParsePrecision refuses.
inline constexpr const char* kPrecisionNames = "fp32, fast, bf16 or auto";

// Parses "fp32", "fast", "bf16" or "auto". Returns nullopt for any other name.
std::optional<Precision> ParsePrecision(std::string_view name);
// Returns whether products round their operands to bf16 on this target. The first overload is for the CPU.
bool UsesBf16(Precision precision);
bool UsesBf16(Precision precision, const Target& target);

// How kernels may round. These are the fields of KernelOperands of the same names.
struct Rounding {
  bool bf16 = false, fast_math = false;
};
Rounding RoundingOf(Precision precision, const Target& target);

}  // namespace tern
