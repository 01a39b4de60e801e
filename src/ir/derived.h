// Constants made from others of the graph, as packed weights are. No node reads them; they travel in files
// under names that say what they are, from which constants they were made, and which bytes those held.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tern {

struct DerivedName {
  std::string what;                                         // anything without a |
  std::vector<std::pair<std::string, uint64_t>> made_from;  // names, and the Checksums of their bytes
};

std::string ToText(const DerivedName& name);
// Nothing where the text is no such name.
std::optional<DerivedName> ParseDerivedName(const std::string& text);

}  // namespace tern
