// Tokens of the text form: words, numbers, quoted texts and punctuation, with their positions.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern {

struct Token {
  enum class Kind { kEnd, kWord, kNumber, kText, kValue, kSign };
  Kind kind = Kind::kEnd;
  std::string text;     // without quotes and without the sigil of a value
  char sigil = 0;       // the first character of a value: '%' or '#'
  bool quoted = false;  // true if the name of a value is in quotes
  std::string suffix;   // the digits after '~'
  size_t at = 0;        // offset in the source
};

// Splits the source into tokens; `//` starts a comment.
Result<std::vector<Token>> Tokenize(std::string_view source);
// Returns the source without white space outside quotes.
std::string WithoutSpace(std::string_view source);
// Returns the position as text: "line 3, column 7".
std::string LineAndColumn(std::string_view source, size_t at);

}  // namespace tern
