#include "passes/level.h"

#include <iterator>

namespace tern {
namespace {

constexpr const char* kLevelNames[] = {"none", "basic", "extended", "layout"};

}  // namespace

const char* LevelName(Level level) { return kLevelNames[static_cast<size_t>(level)]; }

std::optional<Level> ParseLevel(std::string_view name) {
  for (size_t i = 0; i < std::size(kLevelNames); ++i)
    if (name == kLevelNames[i]) return static_cast<Level>(i);
  return std::nullopt;
}

}  // namespace tern
