// Constants computed from other constants of the graph, such as packed weights. No node reads them. In a
// file, the name of such a constant describes the constant. The name also lists the source constants with
// their checksums.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tern {

struct DerivedName {
  std::string what;                                         // any text without the character '|'
  std::vector<std::pair<std::string, uint64_t>> made_from;  // source constants and their checksums
};

std::string ToText(const DerivedName& name);
// Returns nullopt if the text is not such a name.
std::optional<DerivedName> ParseDerivedName(const std::string& text);

}  // namespace tern
