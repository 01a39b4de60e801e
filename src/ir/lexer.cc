#include "ir/lexer.h"

#include <cctype>

namespace tern {
namespace {

bool WordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/';
}
bool Digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
int HexValue(char c) { return Digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : s_(source) {}

  Result<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    for (;;) {
      SkipSpace();
      Token t;
      t.at = at_;
      if (at_ == s_.size()) {
        tokens.push_back(t);
        return tokens;
      }
      TERN_TRY(Next(t));
      tokens.push_back(std::move(t));
    }
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < s_.size() ? s_[at_ + ahead] : '\0'; }

  void SkipSpace() {
    while (at_ < s_.size()) {
      if (std::isspace(static_cast<unsigned char>(s_[at_])))
        ++at_;
      else if (Peek() == '/' && Peek(1) == '/')
        while (at_ < s_.size() && s_[at_] != '\n') ++at_;
      else
        return;
    }
  }

  Status Next(Token& t) {
    const char c = Peek();
    if (c == '"') {
      t.kind = Token::Kind::kText;
      return Quoted(t.text);
    }
    if (c == '%' || c == '#') return ValueName(t);
    if (Digit(c) || (c == '-' && (Digit(Peek(1)) || s_.substr(at_, 4) == "-inf")) ||
        (c == '.' && Digit(Peek(1))))
      return Number(t);
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      t.kind = Token::Kind::kWord;
      while (WordChar(Peek()) && !(Peek() == '/' && Peek(1) == '/')) t.text += s_[at_++];
      return {};
    }
    t.kind = Token::Kind::kSign;
    if (s_.substr(at_, 2) == "->" || s_.substr(at_, 3) == "...")
      t.text = s_.substr(at_, c == '-' ? 2 : 3);
    else
      t.text = std::string(1, c);
    at_ += t.text.size();
    return {};
  }

  Status ValueName(Token& t) {
    t.kind = Token::Kind::kValue;
    t.sigil = s_[at_++];
    if (Peek() == '"') {
      t.quoted = true;
      TERN_TRY(Quoted(t.text));
    } else {
      while (WordChar(Peek()) && !(Peek() == '/' && Peek(1) == '/')) t.text += s_[at_++];
      if (t.text.empty())
        return InvalidArgument("a name must follow ", std::string(1, t.sigil), " at ",
                               LineAndColumn(s_, at_));
    }
    if (Peek() != '~') return {};
    ++at_;
    while (Digit(Peek())) t.suffix += s_[at_++];
    return {};
  }

  Status Number(Token& t) {
    t.kind = Token::Kind::kNumber;
    if (Peek() == '-') t.text += s_[at_++];
    while (WordChar(Peek()) && Peek() != '/') {
      const char c = s_[at_++];
      t.text += c;
      if ((c == 'e' || c == 'E') && (Peek() == '-' || Peek() == '+') && Digit(Peek(1))) t.text += s_[at_++];
    }
    return {};
  }

  Status Quoted(std::string& out) {
    const size_t start = at_++;
    while (at_ < s_.size() && s_[at_] != '"') {
      if (s_[at_] != '\\') {
        out += s_[at_++];
        continue;
      }
      const char c = Peek(1);
      at_ += 2;
      if (c == 'n')
        out += '\n';
      else if (c == '"' || c == '\\')
        out += c;
      else if (c == 'x' && HexValue(Peek()) >= 0 && HexValue(Peek(1)) >= 0) {
        out += static_cast<char>(HexValue(Peek()) * 16 + HexValue(Peek(1)));
        at_ += 2;
      } else {
        return InvalidArgument("unknown escape at ", LineAndColumn(s_, at_ - 2));
      }
    }
    if (at_ >= s_.size())
      return InvalidArgument("a text that starts at ", LineAndColumn(s_, start), " never ends");
    ++at_;
    return {};
  }

  std::string_view s_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> Tokenize(std::string_view source) { return Lexer(source).Run(); }

std::string WithoutSpace(std::string_view source) {
  std::string text;
  bool quoted = false;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '"') quoted = !quoted;
    if (!quoted && std::isspace(static_cast<unsigned char>(source[i]))) continue;
    text += source[i];
    if (quoted && source[i] == '\\' && i + 1 < source.size()) text += source[++i];
  }
  return text;
}

std::string LineAndColumn(std::string_view source, size_t at) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < at && i < source.size(); ++i) {
    ++column;
    if (source[i] == '\n') {
      ++line;
      column = 1;
    }
  }
  return StrCat("line ", line, ", column ", column);
}

}  // namespace tern
