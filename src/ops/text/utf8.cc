#include "ops/text/utf8.h"

#include <algorithm>

namespace tern {
namespace {

constexpr uint32_t kReplacement = 0xFFFD;

// Returns the length in bytes of the valid sequence at `at`, and stores its code point in `code`. Returns 0
// if no valid sequence starts there.
size_t Decode(std::string_view s, size_t at, uint32_t& code) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(s[i])); };
  const uint32_t first = byte(at);
  if (first < 0x80) {
    code = first;
    return 1;
  }
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > s.size()) return 0;
  code = first & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool outside = code > 0x10FFFF || (code >= 0xD800 && code < 0xE000);
  return overlong || outside ? 0 : length;
}

struct CaseRange {
  uint32_t first, last, step;
  int32_t distance;  // from a letter to the letter in the other case
};

constexpr CaseRange kLower[] = {
#define TERN_LOWER(first, last, step, distance) {first, last, step, distance},
#define TERN_UPPER(first, last, step, distance)
#include "ops/text/case_ranges.inc"
#undef TERN_LOWER
#undef TERN_UPPER
};
constexpr CaseRange kUpper[] = {
#define TERN_LOWER(first, last, step, distance)
#define TERN_UPPER(first, last, step, distance) {first, last, step, distance},
#include "ops/text/case_ranges.inc"
#undef TERN_LOWER
#undef TERN_UPPER
};

// Returns the other case of `code`, or `code` if no range contains it.
template <size_t N> uint32_t MapCase(uint32_t code, const CaseRange (&ranges)[N]) {
  const auto after = [](uint32_t c, const CaseRange& r) { return c < r.first; };
  const CaseRange* r = std::upper_bound(ranges, ranges + N, code, after);
  if (r == ranges) return code;
  --r;
  if (code > r->last || (code - r->first) % r->step != 0) return code;
  return static_cast<uint32_t>(static_cast<int32_t>(code) + r->distance);
}

template <class F> std::string Mapped(std::string_view text, F map) {
  std::string out;
  for (uint32_t code : CodePoints(text)) AppendUtf8(map(code), out);
  return out;
}

}  // namespace

std::vector<uint32_t> CodePoints(std::string_view text) {
  std::vector<uint32_t> codes;
  for (size_t at = 0; at < text.size();) {
    uint32_t code = 0;
    const size_t length = Decode(text, at, code);
    codes.push_back(length ? code : kReplacement);
    at += length ? length : 1;
  }
  return codes;
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

uint32_t LowerOf(uint32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  return MapCase(code, kLower);
}

uint32_t UpperOf(uint32_t code) {
  if (code < 0x80) return code >= 'a' && code <= 'z' ? code - 32 : code;
  return MapCase(code, kUpper);
}

std::string LowerText(std::string_view text) { return Mapped(text, LowerOf); }
std::string UpperText(std::string_view text) { return Mapped(text, UpperOf); }

}  // namespace tern
