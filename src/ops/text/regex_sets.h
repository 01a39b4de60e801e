// Sets of code points for the parser of regular expressions.
#pragma once
#include "ops/text/regex_parse.h"

namespace tern {

inline constexpr uint32_t kMaxCode = 0x10FFFF;

RegexSet SortedSet(RegexSet set);           // overlapping ranges merged
RegexSet InvertedSet(const RegexSet& set);  // of a sorted set
RegexSet FoldedSet(const RegexSet& set);    // with the other case of every letter
// \d \D \s \S \w \W. False: c names none.
bool EscapedSet(uint32_t c, RegexSet& set);
// "alpha" of [:alpha:]; "^alpha" is its inverse. False: there is none of that name.
bool PosixSet(std::string_view name, RegexSet& set);

}  // namespace tern
