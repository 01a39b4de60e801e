// Unicode normal forms, with the number of code points that each result replaces.
#pragma once
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace tern::data {

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };

// A code point of a changed text. `change` says how it came about: 0 replaces one code point of the old text,
// -n replaces one and removes the next n, and a positive number inserts the code point.
struct Change {
  char32_t code_point;
  int change;
};

// False only if the text is in the normal form already.
bool MayChange(NormalForm form, std::string_view text);
// Returns the text in the normal form.
std::vector<Change> Normalise(NormalForm form, std::string_view text);

}  // namespace tern::data
