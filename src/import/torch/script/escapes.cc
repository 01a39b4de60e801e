#include "import/torch/script/escapes.h"

namespace tern::torch::script {
namespace {

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Reads up to `most` digits of the base at text[at]. Returns the number of digits.
size_t ReadDigits(std::string_view text, size_t at, int base, size_t most, int& value) {
  size_t n = 0;
  value = 0;
  while (n < most && at + n < text.size() && DigitOf(text[at + n]) < base)
    value = value * base + DigitOf(text[at + n++]);
  return n;
}

}  // namespace

bool Unescape(std::string_view text, std::string& out) {
  constexpr std::string_view kFrom = "\\'\"abfnrtv", kTo = "\\'\"\a\b\f\n\r\t\v";
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return false;
    int value = 0;
    if (const size_t n = kFrom.find(text[i]); n != std::string_view::npos) {
      out += kTo[n];
    } else if (text[i] == 'x') {
      if (ReadDigits(text, i + 1, 16, 2, value) != 2) return false;
      out += static_cast<char>(value);
      i += 2;
    } else if (const size_t octal = ReadDigits(text, i, 8, 3, value); octal > 0) {
      out += static_cast<char>(value);
      i += octal - 1;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace tern::torch::script
