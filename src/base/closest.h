// Finds the name that a writer probably meant.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tern {

// Returns the smallest number of changes that turn `a` into `b`. A change inserts, deletes or replaces one
// character, or swaps two neighbours.
size_t EditDistance(std::string_view a, std::string_view b);

// Returns the known name with the smallest distance from `name`, or null if all names are too different: more
// than 3 changes, or more than half of the characters. One change is always allowed. Also returns null if
// `name` has 64 characters or more.
const std::string* Closest(const std::string& name, const std::vector<std::string>& known);

}  // namespace tern
