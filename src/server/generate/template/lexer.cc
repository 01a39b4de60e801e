#include "server/generate/template/lexer.h"

#include <algorithm>

#include "data/utf8.h"

namespace tern::server {
namespace {

using TokenKind = TemplateToken::Kind;

constexpr size_t kMaxTokens = 1'000'000;
// The longest operators first.
constexpr std::string_view kOperators[] = {"**", "//", "==", "!=", "<=", ">=", "+", "-", "*",
                                           "/",  "%",  "~",  "<",  ">",  "=",  "(", ")", "[",
                                           "]",  "{",  "}",  ",",  ".",  ":",  "|"};

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {
    if (text_.ends_with('\n')) text_.remove_suffix(text_.ends_with("\r\n") ? 2 : 1);
  }

  Result<std::vector<TemplateToken>> Run() {
    while (at_ < text_.size()) {
      TERN_TRY(ReadText());
      if (at_ >= text_.size()) break;
      if (text_[at_ + 1] == '#')
        TERN_TRY(SkipComment());
      else
        TERN_TRY(ReadTag());
      if (tokens_.size() > kMaxTokens) return Fail("the template is too long");
    }
    Add(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  Status Fail(std::string_view what) const { return InvalidModel("line ", line_, ": ", what); }
  void Add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }
  void Advance(size_t count) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(at_ + count), '\n'));
    at_ += count;
  }
  char At(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  size_t FindTag() const {
    for (size_t i = text_.find('{', at_); i != text_.npos; i = text_.find('{', i + 1))
      if (At(i + 1) == '{' || At(i + 1) == '%' || At(i + 1) == '#') return i;
    return text_.npos;
  }

  // Reads the text before the next tag, without the white space that tags on both sides remove.
  Status ReadText() {
    const size_t tag = FindTag(), end = tag == text_.npos ? text_.size() : tag;
    std::string_view part = text_.substr(at_, end - at_);
    if (strip_next_)
      while (!part.empty() && IsSpace(part[0])) part.remove_prefix(1);
    else if (trim_newline_ && part.starts_with('\n'))
      part.remove_prefix(1);
    else if (trim_newline_ && part.starts_with("\r\n"))
      part.remove_prefix(2);
    if (tag != text_.npos) part = Stripped(part, tag, part.size() == end - at_);
    if (!part.empty()) Add(TokenKind::kText, std::string(part));
    Advance(end - at_);
    return {};
  }

  // Removes the white space before a tag: all of it, or only that of the tag's line if nothing else precedes
  // the tag in its line.
  std::string_view Stripped(std::string_view part, size_t tag, bool whole) const {
    const char mark = At(tag + 2);
    if (mark == '-') {
      while (!part.empty() && IsSpace(part.back())) part.remove_suffix(1);
      return part;
    }
    if (At(tag + 1) == '{' || mark == '+') return part;
    size_t size = part.size();
    while (size > 0 && (part[size - 1] == ' ' || part[size - 1] == '\t')) --size;
    const bool line_start = size > 0 ? part[size - 1] == '\n' : !whole || at_ == 0;
    return line_start ? part.substr(0, size) : part;
  }

  Status SkipComment() {
    const size_t end = text_.find("#}", at_ + 2);
    if (end == text_.npos) return Fail("a comment has no end '#}'");
    strip_next_ = text_[end - 1] == '-' && end > at_ + 2;
    trim_newline_ = true;
    Advance(end + 2 - at_);
    return {};
  }

  Status ReadTag() {
    const bool output = text_[at_ + 1] == '{';
    Add(output ? TokenKind::kOutput : TokenKind::kBlock, "");
    Advance(2);
    if (At(at_) == '-' || At(at_) == '+') Advance(1);
    int depth = 0;  // of brackets
    while (true) {
      while (at_ < text_.size() && IsSpace(text_[at_])) Advance(1);
      if (at_ >= text_.size()) return Fail("a tag has no end");
      const std::string_view close = output ? "}}" : "%}";
      const bool marked =
          (At(at_) == '-' || (At(at_) == '+' && !output)) && text_.substr(at_ + 1, 2) == close;
      if ((depth == 0 && text_.substr(at_, 2) == close) || marked) {
        strip_next_ = marked && At(at_) == '-';
        trim_newline_ = !output && !(marked && At(at_) == '+');
        Add(output ? TokenKind::kOutputEnd : TokenKind::kBlockEnd, "");
        Advance(marked ? 3 : 2);
        return {};
      }
      TERN_TRY(ReadToken(depth));
    }
  }

  Status ReadToken(int& depth) {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return ReadString(c);
    if (IsDigit(c)) return ReadNumber();
    if (IsNameStart(c)) {
      size_t end = at_;
      while (IsNameStart(At(end)) || IsDigit(At(end))) ++end;
      Add(TokenKind::kName, std::string(text_.substr(at_, end - at_)));
      Advance(end - at_);
      return {};
    }
    for (const std::string_view op : kOperators) {
      if (!text_.substr(at_).starts_with(op)) continue;
      if (op == "(" || op == "[" || op == "{") ++depth;
      if (op == ")" || op == "]" || op == "}") --depth;
      Add(TokenKind::kOperator, std::string(op));
      Advance(op.size());
      return {};
    }
    return Fail(StrCat("the character '", std::string(1, c), "' is not expected in a tag"));
  }

  Status ReadNumber() {
    size_t end = at_;
    while (IsDigit(At(end)) || At(end) == '_') ++end;
    const bool real = At(end) == '.' && IsDigit(At(end + 1));
    if (real)
      for (++end; IsDigit(At(end));) ++end;
    std::string digits(text_.substr(at_, end - at_));
    std::erase(digits, '_');
    Add(real ? TokenKind::kFloat : TokenKind::kInt, std::move(digits));
    Advance(end - at_);
    return {};
  }

  Status ReadString(char quote) {
    std::string out;
    size_t i = at_ + 1;
    for (; i < text_.size() && text_[i] != quote; ++i) {
      if (text_[i] != '\\') {
        out += text_[i];
        continue;
      }
      TERN_TRY(ReadEscape(i, out));
    }
    if (i >= text_.size()) return Fail("a string has no end");
    Add(TokenKind::kString, std::move(out));
    Advance(i + 1 - at_);
    return {};
  }

  // At the call, `i` is the position of the backslash. Afterwards it is that of the last character of the
  // escape.
  Status ReadEscape(size_t& i, std::string& out) const {
    constexpr std::string_view kFrom = "ntr\\'\"abfv0", kTo("\n\t\r\\'\"\a\b\f\v\0", 11);
    const char c = At(++i);
    if (const size_t at = kFrom.find(c); at != kFrom.npos && c) {
      out += kTo[at];
      return {};
    }
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {  // as in Python, the backslash stays
      out += '\\';
      if (i < text_.size()) out += c;
      return {};
    }
    uint32_t code = 0;
    for (size_t k = 0; k < digits; ++k) {
      const char d = At(++i);
      const size_t value =
          std::string_view("0123456789abcdef").find(static_cast<char>(d | (d >= 'A' ? 32 : 0)));
      if (value > 15) return Fail("an escape has too few hexadecimal digits");
      code = code * 16 + static_cast<uint32_t>(value);
    }
    return data::AppendUtf8(code, out) ? Status() : Fail("an escape is not a character");
  }

  std::string_view text_;
  std::vector<TemplateToken> tokens_;
  size_t at_ = 0;
  int line_ = 1;
  bool strip_next_ = false, trim_newline_ = false;  // of the text after the last tag
};

}  // namespace

Result<std::vector<TemplateToken>> ReadTemplateTokens(std::string_view text) { return Lexer(text).Run(); }

}  // namespace tern::server
