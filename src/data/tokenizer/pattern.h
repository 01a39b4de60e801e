// Regular expressions of tokenizer files, and fixed strings to search for.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/tokenizer/aligned_text.h"
#include "data/tokenizer/json_node.h"

namespace tern::data {

// A compiled pattern. Thread-safe.
class Pattern {
 public:
  virtual ~Pattern() = default;
  // Replaces `matches` by the matches in `text`, which must be UTF-8, in order. Fails if a regular expression
  // needs too many steps, or more than 10 s.
  virtual Status FindAll(std::string_view text, std::vector<ByteSpan>& matches) const = 0;
};

// Matches the string itself, which must not be empty.
std::unique_ptr<Pattern> MakeLiteral(std::string text);
// Compiles a regular expression in the syntax of Oniguruma, which Hugging Face's files use. Well-known
// expressions get hand-written scanners, if `scanners` is true.
Result<std::unique_ptr<Pattern>> CompilePattern(const std::string& expression, bool scanners = true);

// Reads {"String": "..."} or {"Regex": "..."}.
Result<std::unique_ptr<Pattern>> ParsePattern(const JsonNode& node);

// Rewrites an Oniguruma expression for PCRE2. Fails on what PCRE2 does not have.
Result<std::string> TranslateExpression(const std::string& expression);

}  // namespace tern::data
