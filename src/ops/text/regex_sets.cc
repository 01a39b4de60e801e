#include "ops/text/regex_sets.h"

#include <algorithm>

#include "ops/text/utf8.h"

namespace tern {
namespace {

RegexSet Digits() { return {{'0', '9'}}; }
RegexSet Spaces() { return {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}; }
RegexSet Words() { return {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}; }

struct Named {
  const char* name;
  RegexSet set;
};

const std::vector<Named>& PosixSets() {
  static const std::vector<Named> sets = {{"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
                                          {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
                                          {"ascii", {{0, 127}}},
                                          {"blank", {{'\t', '\t'}, {' ', ' '}}},
                                          {"cntrl", {{0, 31}, {127, 127}}},
                                          {"digit", Digits()},
                                          {"graph", {{'!', '~'}}},
                                          {"lower", {{'a', 'z'}}},
                                          {"print", {{' ', '~'}}},
                                          {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
                                          {"space", {{'\t', '\r'}, {' ', ' '}}},
                                          {"upper", {{'A', 'Z'}}},
                                          {"word", Words()},
                                          {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
  return sets;
}

}  // namespace

RegexSet SortedSet(RegexSet set) {
  std::sort(set.begin(), set.end(), [](const CodeRange& a, const CodeRange& b) { return a.low < b.low; });
  RegexSet out;
  for (const CodeRange& r : set) {
    if (!out.empty() && r.low <= out.back().high + 1)
      out.back().high = std::max(out.back().high, r.high);
    else
      out.push_back(r);
  }
  return out;
}

RegexSet InvertedSet(const RegexSet& set) {
  RegexSet out;
  uint32_t next = 0;
  for (const CodeRange& r : set) {
    if (r.low > next) out.push_back({next, r.low - 1});
    next = r.high + 1;
  }
  if (next <= kMaxCode) out.push_back({next, kMaxCode});
  return out;
}

RegexSet FoldedSet(const RegexSet& set) {
  constexpr uint32_t kLastLetter = 0x1E943;  // LowerOf and UpperOf change no letter after this one
  RegexSet out = set;
  for (const CodeRange& r : set)
    for (uint32_t c = r.low; c <= std::min(r.high, kLastLetter); ++c)
      for (uint32_t other : {LowerOf(c), UpperOf(c)})
        if (other != c) out.push_back({other, other});
  return SortedSet(std::move(out));
}

bool EscapedSet(uint32_t c, RegexSet& set) {
  const uint32_t lower = c | 32;
  if (lower == 'd')
    set = Digits();
  else if (lower == 's')
    set = Spaces();
  else if (lower == 'w')
    set = Words();
  else
    return false;
  if (c != lower) set = InvertedSet(set);
  return true;
}

bool PosixSet(std::string_view name, RegexSet& set) {
  const bool inverse = !name.empty() && name[0] == '^';
  if (inverse) name.remove_prefix(1);
  for (const Named& n : PosixSets())
    if (name == n.name) {
      set = inverse ? InvertedSet(n.set) : n.set;
      return true;
    }
  return false;
}

bool Contains(const RegexSet& set, uint32_t code) {
  auto it = std::upper_bound(set.begin(), set.end(), code,
                             [](uint32_t c, const CodeRange& r) { return c < r.low; });
  return it != set.begin() && code <= std::prev(it)->high;
}

bool IsWordCode(uint32_t code) {
  return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') ||
         code == '_';
}

}  // namespace tern
