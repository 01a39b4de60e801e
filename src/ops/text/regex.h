// Regular expressions in RE2's syntax. Matching simulates all states of an NFA at once, so its time is linear
// in the length of the text.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/text/regex_parse.h"

namespace tern {

class Regex {
 public:
  // Parses a pattern. Syntax errors name the position in the pattern. Back references, look-around, \C and
  // Unicode properties are not supported. Fails if the pattern has more than 65536 characters, or needs more
  // than 20000 states.
  static Result<Regex> Parse(std::string_view pattern);
  // Returns whether the pattern matches the entire text, which is UTF-8. Invalid bytes count as U+FFFD.
  bool FullMatch(std::string_view text) const;

  // The code points `begin` to `end` - 1 of a text.
  struct Span {
    size_t begin, end;
  };
  // Returns the first match that starts at `from` or later. If several matches have this start, returns the
  // longest.
  std::optional<Span> Find(const std::vector<uint32_t>& text, size_t from) const;

 private:
  enum class Kind : uint8_t { kSet, kSplit, kJump, kAssert, kMatch };
  struct Step {
    Kind kind;
    RegexAssert condition = RegexAssert::kTextStart;
    int set = 0;              // index of a set
    int next = 0, other = 0;  // `other` is the second branch of a split
  };
  class Compiler;
  class Runner;
  std::vector<Step> steps_;
  std::vector<RegexSet> sets_;
};

}  // namespace tern
