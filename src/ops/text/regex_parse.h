// The syntax tree of a regular expression.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern {

struct CodeRange {
  uint32_t low, high;
};
using RegexSet = std::vector<CodeRange>;  // sorted and disjoint; may be empty

enum class RegexAssert : uint8_t {
  kTextStart,
  kTextEnd,
  kLineStart,
  kLineEnd,
  kWordBoundary,
  kNotWordBoundary
};

struct RegexTree {
  enum class Kind : uint8_t { kEmpty, kSet, kAssert, kSequence, kChoice, kRepeat };
  Kind kind = Kind::kEmpty;
  RegexSet set;
  RegexAssert condition = RegexAssert::kTextStart;
  int64_t low = 0,
          high = 0;  // minimum and maximum repetitions of a kRepeat; a negative `high` means no limit
  std::vector<RegexTree> parts;
};

// Trees are at most kMaxRegexDepth deep, so that recursion cannot overflow the stack.
inline constexpr int kMaxRegexDepth = 200;
Result<RegexTree> ParseRegex(std::string_view pattern);

bool Contains(const RegexSet& set, uint32_t code);
bool IsWordCode(uint32_t code);

}  // namespace tern
