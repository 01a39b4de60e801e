#include "data/tokenizer/normal_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "data/tokenizer/code_points.h"
#include "data/tokenizer/unicode.h"

namespace tern::data {
namespace {

constexpr char32_t kSBase = 0xac00, kLBase = 0x1100, kVBase = 0x1161, kTBase = 0x11a7;
constexpr char32_t kLCount = 19, kVCount = 21, kTCount = 28, kSCount = kLCount * kVCount * kTCount;
constexpr size_t kMaxDecomposed = 32;  // the longest decomposition has 18 code points

struct Range {
  char32_t first, last;
};
// Code points with a decomposition that the `tokenizers` package does not know, because it has Unicode 9.
constexpr Range kNewDecompositions[] = {{0x32ff, 0x32ff},   {0xa7f2, 0xa7f4},   {0xab69, 0xab69},
                                        {0x10781, 0x107ba}, {0x11938, 0x11938}, {0x1e030, 0x1e06d},
                                        {0x1f16c, 0x1f16c}, {0x1fbf0, 0x1fbf9}};

bool HasDecomposition(char32_t c) {
  if (utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->decomp_seqindex == UINT16_MAX) return false;
  return std::none_of(std::begin(kNewDecompositions), std::end(kNewDecompositions),
                      [c](const Range& r) { return c >= r.first && c <= r.last; });
}

// Returns 0 for combining characters that the package does not know.
int CombiningClass(char32_t c) {
  if (!(CharClasses()[c] & kCombining)) return 0;
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

// Writes the decomposition and returns its length.
size_t Decompose(char32_t c, bool compatible, utf8proc_int32_t out[kMaxDecomposed]) {
  if (c < 0xa0 || (c - kSBase >= kSCount && !HasDecomposition(c))) {
    out[0] = static_cast<utf8proc_int32_t>(c);
    return 1;
  }
  int boundary = 0;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                                      (compatible ? UTF8PROC_COMPAT : 0));
  const utf8proc_ssize_t n =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), out, kMaxDecomposed, options, &boundary);
  return static_cast<size_t>(std::clamp<utf8proc_ssize_t>(n, 1, kMaxDecomposed));
}

uint64_t PairKey(char32_t a, char32_t b) { return uint64_t{a} << 32 | b; }

// Pairs of code points and what they compose to, without Hangul.
using Pairs = std::unordered_map<uint64_t, char32_t>;

// The composite of several code points, or 0.
char32_t ComposeAll(const utf8proc_int32_t* code_points, size_t n) {
  std::vector<utf8proc_int32_t> buffer(code_points, code_points + n);
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  const utf8proc_ssize_t left =
      utf8proc_normalize_utf32(buffer.data(), static_cast<utf8proc_ssize_t>(n), options);
  return left == 1 ? static_cast<char32_t>(buffer[0]) : 0;
}

// Returns the pairs from which composites are made. The second element of the pair of c is the last code
// point of its decomposition. The first element is the composition of all code points before that.
Pairs MakePairs() {
  Pairs pairs;
  utf8proc_int32_t parts[kMaxDecomposed];
  for (char32_t c = 0xc0; c < 0x20000; ++c) {
    if (c - kSBase < kSCount || !HasDecomposition(c)) continue;
    const size_t n = Decompose(c, false, parts);
    if (n < 2 || ComposeAll(parts, n) != c) continue;
    const char32_t first = n == 2 ? static_cast<char32_t>(parts[0]) : ComposeAll(parts, n - 1);
    if (first != 0) pairs.emplace(PairKey(first, static_cast<char32_t>(parts[n - 1])), c);
  }
  return pairs;
}

const Pairs& CompositionPairs() {
  static const Pairs pairs = MakePairs();
  return pairs;
}

// Returns the composite, or 0.
char32_t Compose(char32_t a, char32_t b) {
  if (a - kLBase < kLCount && b - kVBase < kVCount)
    return kSBase + ((a - kLBase) * kVCount + (b - kVBase)) * kTCount;
  if (a - kSBase < kSCount && (a - kSBase) % kTCount == 0 && b - kTBase - 1 < kTCount - 1)
    return a + (b - kTBase);
  const Pairs& pairs = CompositionPairs();
  const auto it = pairs.find(PairKey(a, b));
  return it == pairs.end() ? 0 : it->second;
}

constexpr uint8_t FormBit(NormalForm form) { return static_cast<uint8_t>(1u << static_cast<int>(form)); }

// For each code point the forms in which a text that contains it may have to change.
CodePointTable MakeQuickCheck() {
  std::vector<uint8_t> values(0x110000);
  const uint8_t all = 15, decomposed = FormBit(NormalForm::kNfd) | FormBit(NormalForm::kNfkd);
  const uint8_t compatible = FormBit(NormalForm::kNfkc) | FormBit(NormalForm::kNfkd);
  utf8proc_int32_t parts[kMaxDecomposed];
  for (char32_t c = 0xa0; c < values.size(); ++c) {
    if (CombiningClass(c) != 0) values[c] = all;
    if (c - kSBase < kSCount) values[c] |= decomposed;
    if ((c - kVBase < kVCount) || (c - kTBase < kTCount)) values[c] = all;
    if (c - kSBase < kSCount || !HasDecomposition(c)) continue;
    const size_t n = Decompose(c, false, parts);
    if (n > 1 || static_cast<char32_t>(parts[0]) != c) {
      values[c] |= decomposed;
      if (ComposeAll(parts, n) != c) values[c] = all;
    }
    if (ComposeAll(parts, Decompose(c, true, parts)) != c) values[c] |= compatible;
  }
  for (const auto& [key, composite] : CompositionPairs()) values[key & 0xffffffff] = all;
  return CodePointTable(values);
}

const CodePointTable& QuickCheck() {
  static const CodePointTable table = MakeQuickCheck();
  return table;
}

struct Part {
  int combining_class;
  Change change;
};

// Decomposes, and orders runs of combining characters by their class.
std::vector<Part> Decomposed(bool compatible, std::string_view text) {
  std::vector<Part> out;
  out.reserve(text.size());
  utf8proc_int32_t parts[kMaxDecomposed];
  size_t run = 0;  // the start of the current run of combining characters
  const auto sort_run = [&] {
    if (out.size() - run > 1)
      std::stable_sort(out.begin() + static_cast<ptrdiff_t>(run), out.end(),
                       [](const Part& a, const Part& b) { return a.combining_class < b.combining_class; });
  };
  for (size_t i = 0; i < text.size();) {
    const size_t n = Decompose(NextCodePoint(text, i), compatible, parts);
    for (size_t k = 0; k < n; ++k) {
      const auto c = static_cast<char32_t>(parts[k]);
      const int combining_class = c < 0x300 ? 0 : CombiningClass(c);
      if (combining_class == 0) sort_run();
      out.push_back({combining_class, {c, k > 0}});
      if (combining_class == 0) run = out.size();
    }
  }
  sort_run();
  return out;
}

// Composes in place: a starter takes the combining characters and starters that follow it and that no other
// combining character separates from it.
std::vector<Change> Composed(const std::vector<Part>& parts) {
  std::vector<Change> out;
  out.reserve(parts.size());
  constexpr size_t kNone = ~size_t{0};
  size_t starter = kNone;
  int last_class = -1;  // the class of the last combining character behind the starter that stays; -1: none
  for (const Part& p : parts) {
    const bool blocked = last_class >= p.combining_class;
    const char32_t composite =
        starter == kNone || blocked ? 0 : Compose(out[starter].code_point, p.change.code_point);
    if (composite != 0) {
      out[starter] = {composite, out[starter].change + p.change.change - 1};
      continue;
    }
    if (p.combining_class == 0) {
      starter = out.size();
      last_class = -1;
    } else if (starter != kNone) {
      last_class = p.combining_class;
    }
    out.push_back(p.change);
  }
  return out;
}

}  // namespace

bool MayChange(NormalForm form, std::string_view text) {
  const CodePointTable& table = QuickCheck();
  const uint8_t bit = FormBit(form);
  for (size_t i = 0; i < text.size();) {
    if (!(text[i] & 0x80)) {
      ++i;
    } else if (table[NextCodePoint(text, i)] & bit) {
      return true;
    }
  }
  return false;
}

std::vector<Change> Normalise(NormalForm form, std::string_view text) {
  const std::vector<Part> parts = Decomposed(form == NormalForm::kNfkc || form == NormalForm::kNfkd, text);
  if (form == NormalForm::kNfc || form == NormalForm::kNfkc) return Composed(parts);
  std::vector<Change> out(parts.size());
  std::transform(parts.begin(), parts.end(), out.begin(), [](const Part& p) { return p.change; });
  return out;
}

}  // namespace tern::data
