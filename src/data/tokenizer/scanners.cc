#include "data/tokenizer/scanners.h"

#include <utility>

#include "data/tokenizer/code_points.h"

namespace tern::data {

namespace {

constexpr std::pair<std::string_view, Scanner> kKnown[] = {
    {kGpt2Expression, Scanner::kGpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Scanner::kThreeDigits},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     Scanner::kThreeDigits},
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     Scanner::kThreeDigits},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Scanner::kSingleDigits},
};

// A position in a text, and the classes of the character there.
class Cursor {
 public:
  Cursor(const CodePointTable& classes, std::string_view text, size_t at)
      : classes_(classes), text_(text), at_(at) {
    Look();
  }
  bool done() const { return at_ >= text_.size(); }
  size_t at() const { return at_; }
  char32_t character() const { return character_; }
  uint8_t classes() const { return found_; }
  bool Is(uint8_t classes) const { return !done() && (found_ & classes); }
  // True for a character that is neither a letter nor a number nor white space.
  bool IsSymbol() const { return !done() && !(found_ & (kLetter | kNumber | kSpace)); }
  bool IsLineEnd() const { return !done() && (character_ == '\n' || character_ == '\r'); }
  void Step() {
    at_ = next_;
    Look();
  }
  void SkipAll(uint8_t classes) {
    while (Is(classes)) Step();
  }

 private:
  void Look() {
    if (done()) return;
    next_ = at_;
    character_ = NextCodePoint(text_, next_);
    found_ = classes_[character_];
  }
  const CodePointTable& classes_;
  std::string_view text_;
  size_t at_, next_ = 0;
  char32_t character_ = 0;
  uint8_t found_ = 0;
};

// The bytes of an English contraction after the apostrophe at text[begin], or 0. `fold` also accepts upper
// case, and U+017F as an s.
size_t Contraction(std::string_view text, size_t begin, bool fold) {
  const auto at = [&](size_t i) {
    if (begin + i >= text.size()) return '\0';
    const char c = text[begin + i];
    return fold && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  };
  const char a = at(1), b = at(2);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return 1;
  if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return 2;
  return fold && a == '\xc5' && b == '\xbf' ? 2 : 0;
}

// The end of \s+(?!\S)|\s+ : white space up to the last one, which belongs to the word behind it.
size_t SpaceEnd(Cursor cursor) {
  const size_t begin = cursor.at();
  size_t last = begin;
  for (; cursor.Is(kSpace); cursor.Step()) last = cursor.at();
  return cursor.done() || last == begin ? cursor.at() : last;
}

size_t Gpt2Match(const CodePointTable& classes, std::string_view text, size_t begin) {
  Cursor c(classes, text, begin);
  if (c.character() == '\'')
    if (const size_t n = Contraction(text, begin, false)) return begin + 1 + n;
  Cursor word = c;
  if (c.character() == ' ') word.Step();
  if (word.Is(kLetter)) {
    word.SkipAll(kLetter);
    return word.at();
  }
  if (word.Is(kNumber)) {
    word.SkipAll(kNumber);
    return word.at();
  }
  if (word.IsSymbol()) {
    while (word.IsSymbol()) word.Step();
    return word.at();
  }
  return SpaceEnd(c);
}

// The end of \s*[\r\n]+ : white space up to its last line end. Returns `begin` if there is no line end.
size_t LineEnd(Cursor c) {
  size_t end = c.at();
  while (c.Is(kSpace)) {
    const bool line_end = c.IsLineEnd();
    c.Step();
    if (line_end) end = c.at();
  }
  return end;
}

size_t DigitGroupMatch(const CodePointTable& classes, std::string_view text, size_t begin, int digits) {
  Cursor c(classes, text, begin);
  if (c.character() == '\'')
    if (const size_t n = Contraction(text, begin, true)) return begin + 1 + n;
  Cursor word = c;
  if (!c.IsLineEnd() && !c.Is(kLetter | kNumber)) word.Step();
  if (word.Is(kLetter)) {
    word.SkipAll(kLetter);
    return word.at();
  }
  if (c.Is(kNumber)) {
    for (int k = 0; k < digits && c.Is(kNumber); ++k) c.Step();
    return c.at();
  }
  Cursor symbol = c;
  if (c.character() == ' ') symbol.Step();
  if (symbol.IsSymbol()) {
    while (symbol.IsSymbol()) symbol.Step();
    while (symbol.IsLineEnd()) symbol.Step();
    return symbol.at();
  }
  const size_t end = LineEnd(c);
  return end > begin ? end : SpaceEnd(c);
}

}  // namespace

std::optional<Scanner> KnownScanner(std::string_view expression) {
  for (const auto& [known, scanner] : kKnown)
    if (known == expression) return scanner;
  return std::nullopt;
}

size_t NextMatch(Scanner scanner, const CodePointTable& classes, std::string_view text, size_t begin) {
  switch (scanner) {
    case Scanner::kGpt2:
      return Gpt2Match(classes, text, begin);
    case Scanner::kThreeDigits:
      return DigitGroupMatch(classes, text, begin, 3);
    case Scanner::kSingleDigits:
      break;
  }
  return DigitGroupMatch(classes, text, begin, 1);
}

}  // namespace tern::data
