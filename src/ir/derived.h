// Constants computed from other constants of the graph, such as packed weights. No node reads them. Files
// store them under names that tell what they are, which constants they were made from, and the checksums of
// those.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tern {

struct DerivedName {
  std::string what;                                         // any text without a |
  std::vector<std::pair<std::string, uint64_t>> made_from;  // source constants and their checksums
};

std::string ToText(const DerivedName& name);
// nullopt if the text is not such a name.
std::optional<DerivedName> ParseDerivedName(const std::string& text);

}  // namespace tern
