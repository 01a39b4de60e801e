// Sets of code points for the regular expression parser.
#pragma once
#include "ops/text/regex_parse.h"

namespace tern {

inline constexpr uint32_t kMaxCode = 0x10FFFF;

RegexSet SortedSet(RegexSet set);           // merges overlapping ranges
RegexSet InvertedSet(const RegexSet& set);  // requires a sorted set
RegexSet FoldedSet(const RegexSet& set);    // adds the other case of every letter
// Stores the set of the escape \c in `set`: \d \D \s \S \w \W. Returns false if c is none of these letters.
bool EscapedSet(uint32_t c, RegexSet& set);
// Stores the set of a POSIX class in `set`: "alpha" for [:alpha:], "^alpha" for its inverse. Returns false
// for an unknown name.
bool PosixSet(std::string_view name, RegexSet& set);

}  // namespace tern
