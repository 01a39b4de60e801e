// What a session may round to make products faster.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tern {

class Target;

enum class Precision : uint8_t {
  kF32,
  kBf16,  // operands of products with weights, and of attention's, are rounded to bf16, sums are f32; values
          // between convolutions may lie in memory as bf16
  kAuto,  // bf16 where the processor has instructions for it
};

// "fp32", "bf16", "auto"
std::optional<Precision> ParsePrecision(std::string_view name);
// Whether products round to bf16, on this target; by default the CPU.
bool UsesBf16(Precision precision);
bool UsesBf16(Precision precision, const Target& target);

}  // namespace tern
