#include "data/tokenizer/unicode.h"

#include <utf8proc.h>

#include <map>
#include <utility>

namespace tern::data {
namespace {

constexpr char32_t kCodePoints = 0x110000;

struct ClassRun {
  char32_t first;
  uint8_t classes;
};
constexpr ClassRun kClassRuns[] = {
#include "data/tokenizer/unicode_ranges.inc"
};

CodePointTable MakeCharClasses() {
  std::vector<uint8_t> values(kCodePoints);
  for (size_t i = 0; i < std::size(kClassRuns); ++i) {
    const char32_t end = i + 1 < std::size(kClassRuns) ? kClassRuns[i + 1].first : kCodePoints;
    for (char32_t c = kClassRuns[i].first; c < end; ++c) values[c] = kClassRuns[i].classes;
  }
  return CodePointTable(values);
}

// Upper-case letters that Unicode added after version 15, the version that utf8proc knows.
struct CaseAddition {
  char32_t first, last, lower;
};
constexpr CaseAddition kAddedUpperCase[] = {
    {0x1c89, 0x1c89, 0x1c8a},    {0xa7cb, 0xa7cb, 0x264},  {0xa7cc, 0xa7cc, 0xa7cd},
    {0xa7ce, 0xa7ce, 0xa7cf},    {0xa7d2, 0xa7d2, 0xa7d3}, {0xa7d4, 0xa7d4, 0xa7d5},
    {0xa7da, 0xa7da, 0xa7db},    {0xa7dc, 0xa7dc, 0x19b},  {0x10d50, 0x10d65, 0x10d70},
    {0x16ea0, 0x16eb8, 0x16ebb},
};

}  // namespace

CodePointTable::CodePointTable(const std::vector<uint8_t>& values) {
  std::map<std::vector<uint8_t>, uint16_t> known;
  for (size_t block = 0; block < blocks_.size(); ++block) {
    const auto begin = values.begin() + static_cast<ptrdiff_t>(block << 8);
    const auto [it, added] = known.emplace(std::vector<uint8_t>(begin, begin + 256), known.size());
    if (added) values_.insert(values_.end(), begin, begin + 256);
    blocks_[block] = it->second;
  }
}

const CodePointTable& CharClasses() {
  static const CodePointTable table = MakeCharClasses();
  return table;
}

size_t LowerCase(char32_t c, char32_t out[2]) {
  if (c == 0x130) {  // capital I with dot above is the only letter whose lower-case form has two code points
    out[0] = 'i';
    out[1] = 0x307;
    return 2;
  }
  out[0] = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  for (const CaseAddition& a : kAddedUpperCase)
    if (c >= a.first && c <= a.last) out[0] = a.lower + (c - a.first);
  return 1;
}

}  // namespace tern::data
