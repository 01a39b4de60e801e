#include "data/tokenizer/code_points.h"

#include <simdjson.h>

#include <cstring>

namespace tern::data {
namespace {

// The length of the valid code point at the start of `s`. If there is none, returns 0 and sets `bad` to the
// length of the maximal part of an invalid sequence.
size_t ValidLength(std::string_view s, size_t& bad) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(s[k]); };
  const unsigned char b = byte(0);
  bad = 1;
  if (b < 0x80) return 1;
  if (b < 0xc2 || b > 0xf4) return 0;
  const size_t n = b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
  const unsigned low = b == 0xe0 ? 0xa0 : b == 0xf0 ? 0x90 : 0x80;
  const unsigned high = b == 0xed ? 0x9f : b == 0xf4 ? 0x8f : 0xbf;
  if (s.size() < 2 || byte(1) < low || byte(1) > high) return 0;
  for (bad = 2; bad < n; ++bad)
    if (s.size() <= bad || !IsContinuation(s[bad])) return 0;
  return n;
}

}  // namespace

bool IsAscii(std::string_view text) {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t w;
    std::memcpy(&w, text.data() + i, 8);
    if (w & 0x8080808080808080u) return false;
  }
  for (; i < text.size(); ++i)
    if (text[i] & 0x80) return false;
  return true;
}

size_t FindInvalidUtf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return std::string_view::npos;
  for (size_t i = 0, bad = 0; i < text.size();) {
    const size_t n = ValidLength(text.substr(i), bad);
    if (n == 0) return i;
    i += n;
  }
  return std::string_view::npos;
}

std::string ReplaceInvalidUtf8(std::string_view bytes) {
  if (simdjson::validate_utf8(bytes.data(), bytes.size())) return std::string(bytes);
  std::string out;
  for (size_t i = 0, bad = 0; i < bytes.size();) {
    const size_t n = ValidLength(bytes.substr(i), bad);
    if (n == 0)
      out += "\xef\xbf\xbd";
    else
      out += bytes.substr(i, n);
    i += n == 0 ? bad : n;
  }
  return out;
}

}  // namespace tern::data
