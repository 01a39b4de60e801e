// Reads files with the names of classes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::data {

// Both functions return the names of the classes: element i is the name of class i. Unnamed classes between
// named ones have an empty name.
// Formats: one name per line; "12  name", "12: name" or "12,name" per line, if every line begins with an
// index; ImageNet synsets, "n01440764 tench, Tinca tinca", whose identifiers are dropped; a JSON list of
// names; a JSON dictionary from indices to names, or to lists whose last element is the name; a JSON
// dictionary from names to indices; the configuration of a Hugging Face model, which has such a dictionary in
// the field id2label. Fails if an index appears twice or is above 2^20, or if there is no name.
Result<std::vector<std::string>> ParseLabels(std::string_view text);
Result<std::vector<std::string>> ReadLabels(const std::string& path);

}  // namespace tern::data
