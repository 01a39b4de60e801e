#include "import/torch/script/lexer.h"

#include <algorithm>
#include <array>
#include <limits>

#include "import/torch/script/escapes.h"

namespace tern::torch::script {
namespace {

constexpr size_t kMaxIndents = 400;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

}  // namespace

Token Lexer::Make(Token::Kind kind, size_t size) {
  Token token;
  token.kind = kind;
  token.line = line_;
  token.text = source_.substr(at_, size);
  at_ += size;
  return token;
}

// Reads the indentation of a line. Skips empty lines and comments.
Result<bool> Lexer::StartLine(Token& token) {
  size_t spaces = 0;
  while (at_ + spaces < source_.size() && source_[at_ + spaces] == ' ') ++spaces;
  const size_t after = at_ + spaces;
  const char c = after < source_.size() ? source_[after] : '\0';
  if (after >= source_.size()) spaces = 0;
  if (c == '\n' || c == '\r' || c == '#') {
    at_ = std::min(source_.find('\n', after), source_.size());
    if (at_ < source_.size()) ++at_, ++line_;
    return false;
  }
  if (spaces > indents_.back()) {
    if (indents_.size() >= kMaxIndents)
      return InvalidModel("line ", line_, ": blocks are nested more than ", kMaxIndents - 1, " deep");
    indents_.push_back(spaces);
    token = Make(Token::Kind::kIndent, spaces);
    line_start_ = false;
    return true;
  }
  if (spaces < indents_.back()) {
    indents_.pop_back();
    if (spaces > indents_.back()) return InvalidModel("line ", line_, ": the indentation matches no block");
    token = Make(Token::Kind::kDedent, 0);
    return true;
  }
  at_ += spaces;
  line_start_ = false;
  return false;
}

Result<Token> Lexer::Number() {
  size_t size = 0;
  const auto at = [&](size_t i) { return at_ + i < source_.size() ? source_[at_ + i] : '\0'; };
  while (IsDigit(at(size))) ++size;
  bool real = false;
  if (at(size) == '.') {
    real = true;
    do ++size;
    while (IsDigit(at(size)));
  }
  if (at(size) == 'e' || at(size) == 'E') {
    const size_t digits = size + (at(size + 1) == '+' || at(size + 1) == '-' ? 2 : 1);
    if (IsDigit(at(digits))) {
      real = true;
      size = digits;
      while (IsDigit(at(size))) ++size;
    }
  }
  if (at(size) == 'j') return Unsupported("line ", line_, ": complex numbers are not supported");
  Token token = Make(real ? Token::Kind::kFloat : Token::Kind::kInt, size);
  uint64_t number = 0;
  if (!real && ParseUnsigned(token.text, number)) {
    // Allows 9223372036854775808, which wraps to INT64_MIN, because -9223372036854775808 has two tokens.
    if (number > uint64_t{1} << 63) return InvalidModel("line ", line_, ": ", token.text, " is too large");
    token.number = static_cast<int64_t>(number);
    return token;
  }
  std::string text(token.text);
  if (text.back() == '.') text += '0';
  if (!real || !ParseDouble(text, token.real))
    return InvalidModel("line ", line_, ": '", token.text, "' is not a number");
  return token;
}

Result<Token> Lexer::Text() {
  const char quote = source_[at_];
  size_t size = 1;
  while (at_ + size < source_.size() && source_[at_ + size] != quote && source_[at_ + size] != '\n')
    size += source_[at_ + size] == '\\' ? 2 : 1;
  if (at_ + size >= source_.size() || source_[at_ + size] != quote)
    return InvalidModel("line ", line_, ": a text has no closing quote");
  Token token = Make(Token::Kind::kText, size + 1);
  if (!Unescape(token.text.substr(1, token.text.size() - 2), token.value))
    return InvalidModel("line ", line_, ": a text has an unknown escape sequence");
  return token;
}

Result<Token> Lexer::Sign() {
  static constexpr std::array<std::string_view, 12> kLong = {
      "...", "**", "//", "->", "<=", ">=", "==", "!=", "<<", ">>", "+=", "-="};
  const std::string_view rest = source_.substr(at_);
  for (const std::string_view sign : kLong)
    if (StartsWith(rest, sign)) return Make(Token::Kind::kSign, sign.size());
  const char c = rest[0];
  if (std::string_view("()[]{},:.=+-*/%@<>&|^~").find(c) == std::string_view::npos)
    return InvalidModel("line ", line_, ": unexpected character ", QuoteText(rest.substr(0, 1)));
  if (c == '(' || c == '[' || c == '{') ++brackets_;
  if (c == ')' || c == ']' || c == '}') brackets_ = std::max(0, brackets_ - 1);
  return Make(Token::Kind::kSign, 1);
}

Result<Token> Lexer::Next() {
  Token token;
  while (line_start_ && at_ < source_.size()) {
    TERN_ASSIGN(const bool found, StartLine(token));
    if (found) return token;
  }
  while (at_ < source_.size()) {
    const char c = source_[at_];
    if (c == '#') at_ = std::min(source_.find('\n', at_), source_.size());
    if (at_ >= source_.size()) break;
    if (source_[at_] == '\n' && brackets_ == 0) {
      token = Make(Token::Kind::kNewline, 1);
      ++line_;
      line_start_ = true;
      return token;
    }
    if (source_[at_] == '\n') ++line_;
    if (source_[at_] == ' ' || source_[at_] == '\r' || source_[at_] == '\n' || source_[at_] == '\t')
      ++at_;
    else
      break;
  }
  if (at_ >= source_.size()) {
    if (!line_start_) {
      line_start_ = true;
      return Make(Token::Kind::kNewline, 0);
    }
    if (indents_.size() == 1) return Make(Token::Kind::kEnd, 0);
    indents_.pop_back();
    return Make(Token::Kind::kDedent, 0);
  }
  const char c = source_[at_];
  if (IsDigit(c) || (c == '.' && at_ + 1 < source_.size() && IsDigit(source_[at_ + 1]))) return Number();
  if (c == '"' || c == '\'') return Text();
  if (!IsLetter(c)) return Sign();
  size_t size = 1;
  while (at_ + size < source_.size() && (IsLetter(source_[at_ + size]) || IsDigit(source_[at_ + size])))
    ++size;
  return Make(Token::Kind::kName, size);
}

}  // namespace tern::torch::script
