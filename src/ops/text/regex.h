// Regular expressions in RE2's syntax, matched in time linear in the text: a program of states, all followed
// at once.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/text/regex_parse.h"

namespace tern {

class Regex {
 public:
  // Errors name the place in the pattern. No back references, look-around, \C or Unicode properties.
  static Result<Regex> Parse(std::string_view pattern);
  // The whole text, as UTF-8; bytes that are none stand for U+FFFD.
  bool FullMatch(std::string_view text) const;

  // A part of a text, in code points.
  struct Span {
    size_t begin, end;
  };
  // The leftmost match that begins at `from` or later, and of those the longest.
  std::optional<Span> Find(const std::vector<uint32_t>& text, size_t from) const;

 private:
  enum class Kind : uint8_t { kSet, kSplit, kJump, kAssert, kMatch };
  struct Step {
    Kind kind;
    RegexAssert condition = RegexAssert::kTextStart;
    int set = 0;              // number of a set
    int next = 0, other = 0;  // other: the second way of a split
  };
  class Compiler;
  class Runner;
  std::vector<Step> steps_;
  std::vector<RegexSet> sets_;
};

}  // namespace tern
