// Reads and writes code points of text that is known to be UTF-8.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tern::data {

// The number of bytes of a code point, from its first byte.
inline size_t CodePointBytes(char first) {
  const auto b = static_cast<unsigned char>(first);
  return b < 0x80 ? 1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
}

inline bool IsContinuation(char byte) { return (byte & 0xc0) == 0x80; }

// Returns the code point at text[i] and moves i behind it. `text` must be UTF-8.
inline char32_t NextCodePoint(std::string_view text, size_t& i) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[i + k]); };
  const unsigned char b = byte(0);
  char32_t c = b;
  size_t n = 1;
  if (b >= 0xf0) {
    c = (b & 7u) << 18 | (byte(1) & 63u) << 12 | (byte(2) & 63u) << 6 | (byte(3) & 63u);
    n = 4;
  } else if (b >= 0xe0) {
    c = (b & 15u) << 12 | (byte(1) & 63u) << 6 | (byte(2) & 63u);
    n = 3;
  } else if (b >= 0x80) {
    c = (b & 31u) << 6 | (byte(1) & 63u);
    n = 2;
  }
  i += n;
  return c;
}

// Returns the code point that ends before text[i] and moves i to its first byte.
inline char32_t PreviousCodePoint(std::string_view text, size_t& i) {
  do --i;
  while (IsContinuation(text[i]));
  size_t k = i;
  return NextCodePoint(text, k);
}

inline void AppendCodePoint(char32_t c, std::string& out) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
    return;
  }
  char b[4];
  size_t n = 0;
  if (c < 0x800) {
    b[n++] = static_cast<char>(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      b[n++] = static_cast<char>(0xe0 | c >> 12);
    } else {
      b[n++] = static_cast<char>(0xf0 | c >> 18);
      b[n++] = static_cast<char>(0x80 | (c >> 12 & 63));
    }
    b[n++] = static_cast<char>(0x80 | (c >> 6 & 63));
  }
  b[n++] = static_cast<char>(0x80 | (c & 63));
  out.append(b, n);
}

inline size_t CountCodePoints(std::string_view text) {
  size_t n = 0;
  for (const char b : text) n += !IsContinuation(b);
  return n;
}

bool IsAscii(std::string_view text);
// Returns the position of the first byte that is not part of valid UTF-8, or npos.
size_t FindInvalidUtf8(std::string_view text);
// Replaces each maximal part of an invalid sequence by U+FFFD, as the Unicode standard recommends.
std::string ReplaceInvalidUtf8(std::string_view bytes);

}  // namespace tern::data
