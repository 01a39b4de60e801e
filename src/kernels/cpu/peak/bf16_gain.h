// Decides whether bf16 products are worth their rounding on this machine.
#pragma once
#include <optional>
#include <string_view>

namespace tern::cpu {

// Returns the rate of bf16 products divided by the rate of f32 products, both in products per second on one
// thread, with the instructions that kernels use. It is about 8 with AMX. Without AMX, it is about 2 on
// processors that execute both at full width, but 0.5 on some. The first call measures for about a
// millisecond; later calls return the same number. Returns 0 unless ActiveBf16Products(). Thread-safe.
double Bf16Gain();

// Returns whether precision `auto` means bf16: whether Bf16Gain() is at least kBf16GainWanted. The
// environment variable TERN_AUTO, `bf16` or `fp32`, decides instead of the measurement; bf16 has no effect
// unless ActiveBf16Products().
bool Bf16Pays();
constexpr double kBf16GainWanted = 1.2;

// Returns what TERN_AUTO decides: true for "bf16", false for "fp32", nullopt for any other text.
std::optional<bool> ParseAuto(std::string_view text);

}  // namespace tern::cpu
