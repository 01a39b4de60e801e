// Hand-written forms of the regular expressions that published tokenizers use. Each of them divides a text
// completely, so that every character belongs to a match.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

#include "data/tokenizer/unicode.h"

namespace tern::data {

enum class Scanner {
  kGpt2,          // the expression of GPT-2 and RoBERTa
  kThreeDigits,   // Llama 3, GPT-4 (cl100k): groups of up to three digits, separate line ends
  kSingleDigits,  // Qwen 2: the same, with single digits
};

// The expression of GPT-2, which the pre-tokenizer ByteLevel uses.
inline constexpr char kGpt2Expression[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Returns the scanner that gives the matches of the expression, if there is one.
std::optional<Scanner> KnownScanner(std::string_view expression);

// Returns the end of the match that begins at text[begin]. begin < text.size().
size_t NextMatch(Scanner scanner, const CodePointTable& classes, std::string_view text, size_t begin);

}  // namespace tern::data
