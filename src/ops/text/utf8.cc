#include "ops/text/utf8.h"

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
  uint32_t low, high,
      distance;  // `low` to `high` are upper case; the lower case of a letter is letter + distance
};

constexpr CaseRange kRanges[] = {{'A', 'Z', 32},     {0xC0, 0xD6, 32},   {0xD8, 0xDE, 32},
                                 {0x391, 0x3A1, 32}, {0x3A3, 0x3AB, 32}, {0x400, 0x40F, 80},
                                 {0x410, 0x42F, 32}};
// Ranges of adjacent pairs. The first code of each pair is upper case, the second lower case.
struct PairRange {
  uint32_t low, high;
};
constexpr PairRange kPairs[] = {{0x100, 0x12F},   {0x132, 0x137},  {0x139, 0x148}, {0x14A, 0x177},
                                {0x179, 0x17E},   {0x460, 0x481},  {0x48A, 0x4BF}, {0x4D0, 0x52F},
                                {0x1E00, 0x1E95}, {0x1EA0, 0x1EFF}};

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
  for (const CaseRange& r : kRanges)
    if (code >= r.low && code <= r.high) return code + r.distance;
  for (const PairRange& r : kPairs)
    if (code >= r.low && code <= r.high) return (code - r.low) % 2 == 0 ? code + 1 : code;
  return code;
}

uint32_t UpperOf(uint32_t code) {
  for (const CaseRange& r : kRanges)
    if (code >= r.low + r.distance && code <= r.high + r.distance) return code - r.distance;
  for (const PairRange& r : kPairs)
    if (code >= r.low && code <= r.high) return (code - r.low) % 2 == 0 ? code : code - 1;
  return code;
}

std::string LowerText(std::string_view text) { return Mapped(text, LowerOf); }
std::string UpperText(std::string_view text) { return Mapped(text, UpperOf); }

}  // namespace tern
