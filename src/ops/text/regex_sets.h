// Sets of code points for the regular expression parser.
#pragma once
#include "ops/text/regex_parse.h"

namespace tern {

inline constexpr uint32_t kMaxCode = 0x10FFFF;

RegexSet SortedSet(RegexSet set);           // merges overlapping ranges
RegexSet InvertedSet(const RegexSet& set);  // requires a sorted set
RegexSet FoldedSet(const RegexSet& set);    // adds the other case of every letter
// If c is d, D, s, S, w or W, stores the set of the escape \c in `set`. Otherwise returns false.
bool EscapedSet(uint32_t c, RegexSet& set);
// Stores the set of a POSIX class in `set`. The name "alpha" is the class [:alpha:], and "^alpha" is its
// inverse. Returns false if the name is unknown.
bool PosixSet(std::string_view name, RegexSet& set);

}  // namespace tern
