// Classes, case and normal forms of code points. The classes are those of the `tokenizers` package 0.23,
// which mixes several versions of Unicode.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tern::data {

// Bits of a class set. The order is that of tests/tokenizers/character_classes.py.
enum CharClass : uint8_t {
  kLetter = 1,        // \p{L}
  kNumber = 2,        // \p{N}
  kSpace = 4,         // White_Space
  kWord = 8,          // \w of Rust's regular expressions
  kPunctuation = 16,  // ASCII punctuation and P*
  kNonspacing = 32,   // Mn
  kCombining = 64,    // M*
  kOther = 128,       // what BERT's text cleaning removes: control and format characters, U+FFFD
};

// A map from code points to bytes, in two stages: equal blocks of 256 code points are stored once.
class CodePointTable {
 public:
  explicit CodePointTable(const std::vector<uint8_t>& values);  // one value per code point
  uint8_t operator[](char32_t c) const { return values_[size_t{blocks_[c >> 8]} << 8 | (c & 255)]; }

 private:
  std::array<uint16_t, 0x1100> blocks_;
  std::vector<uint8_t> values_;
};

// The CharClass bits of all code points. Made on first use.
const CodePointTable& CharClasses();

// True for the Rust function char::is_numeric, which knows some numbers that \p{N} does not.
inline bool IsNumeric(char32_t c, uint8_t classes) {
  return (classes & kNumber) || (c >= 0x11de0 && c <= 0x11de9) || (c >= 0x16ff4 && c <= 0x16ff6);
}

// Writes the lower-case form and returns its length, 1 or 2.
size_t LowerCase(char32_t c, char32_t out[2]);

}  // namespace tern::data
