// The optimization level.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tern {

enum class Level : uint8_t { kNone, kBasic, kExtended, kLayout };
const char* LevelName(Level level);
std::optional<Level> ParseLevel(std::string_view name);

}  // namespace tern
