// Parses dims from their text form.
#include <cctype>

#include "core/dim.h"

namespace tern {
namespace {

bool WordChar(unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '\''; }

int HexValue(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The grammar:
//   expression := term (('+'|'-') term)*
//   term := factor (('*'|'//'|'%') factor)*
//   factor := integer | symbol | '"' escaped symbol '"' | '?' | '-' factor | '(' expression ')'
//           | function '(' expression ',' expression ')'
// The parser accepts `//`, `%` and capitalised function names, because exporters print expressions of Python
// and sympy. Dim::ToString prints them as floordiv, mod, max and min.
class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}

  Result<Dim> Parse() {
    Dim d = Expression(0);
    SkipSpace();
    if (failed_ || at_ != text_.size())
      return InvalidArgument("cannot read dimension '", text_, "' at character ", at_);
    return d;
  }

 private:
  static constexpr int kMaxDepth = 64;

  void SkipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool Eat(std::string_view sign) {
    SkipSpace();
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }

  Dim Expression(int depth) {
    if (depth > kMaxDepth) failed_ = true;
    if (failed_) return {};
    Dim sum = Product(depth);
    while (!failed_) {
      if (Eat("+"))
        sum = sum + Product(depth);
      else if (Eat("-"))
        sum = sum - Product(depth);
      else
        break;
    }
    return sum;
  }

  Dim Product(int depth) {
    Dim product = Factor(depth);
    while (!failed_) {
      if (Eat("*"))
        product = product * Factor(depth);
      else if (Eat("//"))
        product = FloorDiv(product, Factor(depth));
      else if (Eat("%"))
        product = Mod(product, Factor(depth));
      else
        break;
    }
    return product;
  }

  Dim Factor(int depth) {
    if (depth > kMaxDepth) failed_ = true;
    if (failed_) return {};
    if (Eat("-")) return Dim(0) - Factor(depth + 1);
    if (Eat("(")) return Closed(Expression(depth + 1));
    if (Eat("?")) return {};
    if (Eat("\"")) return Quoted();
    const size_t begin = at_;
    while (at_ < text_.size() && WordChar(static_cast<unsigned char>(text_[at_]))) ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (word.empty()) return Fail();
    if (std::isdigit(static_cast<unsigned char>(word[0]))) {
      int64_t v = 0;
      return ParseInt(word, v) ? Dim(v) : Fail();
    }
    return text_.substr(at_, 1) == "(" ? CallOf(word, depth) : Dim::Symbol(word);
  }

  // Reads a symbol's name up to the closing quote. The caller has consumed the opening quote. The name has
  // the escapes that QuoteText writes.
  Dim Quoted() {
    std::string name;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\') {
        if (at_ >= text_.size()) return Fail();
        c = text_[at_++];
        if (c == 'n') c = '\n';
        if (c == 'x') {
          const int high = at_ + 1 < text_.size() ? HexValue(text_[at_]) : -1;
          const int low = high >= 0 ? HexValue(text_[at_ + 1]) : -1;
          if (low < 0) return Fail();
          c = static_cast<char>(high * 16 + low);
          at_ += 2;
        }
      }
      name += c;
    }
    return name.empty() || !Eat("\"") ? Fail() : Dim::Symbol(name);
  }

  Dim CallOf(const std::string& function, int depth) {
    using Function = Dim (*)(const Dim&, const Dim&);
    static constexpr std::pair<const char*, Function> kFunctions[] = {
        {"floordiv", FloorDiv}, {"ceildiv", CeilDiv}, {"mod", Mod}, {"max", Max}, {"min", Min},
        {"FloorDiv", FloorDiv}, {"CeilDiv", CeilDiv}, {"Mod", Mod}, {"Max", Max}, {"Min", Min}};
    for (const auto& [name, call] : kFunctions) {
      if (function != name || !Eat("(")) continue;
      const Dim a = Expression(depth + 1);
      if (!Eat(",")) return Fail();
      const Dim b = Closed(Expression(depth + 1));
      return failed_ ? Dim() : call(a, b);
    }
    return Fail();
  }

  Dim Closed(Dim d) { return Eat(")") ? d : Fail(); }

  Dim Fail() {
    failed_ = true;
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

Result<Dim> Dim::Parse(std::string_view text) { return DimParser(text).Parse(); }

}  // namespace tern
