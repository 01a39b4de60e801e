// Names of derived constants in a file. A derived constant, such as packed weights, is computed from
// other constants of the graph, and no node reads it. Its name says what it contains, and lists the
// source constants with their checksums.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tern {

struct DerivedName {
  std::string what;                                         // the contents, as any text without '|'
  std::vector<std::pair<std::string, uint64_t>> made_from;  // source constants and their checksums
};

std::string ToText(const DerivedName& name);
// Returns nullopt if the text is not the name of a derived constant.
std::optional<DerivedName> ParseDerivedName(const std::string& text);

}  // namespace tern
