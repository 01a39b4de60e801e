// Tokens of the Python subset in which TorchScript files store their code.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::torch::script {

struct Token {
  enum class Kind { kEnd, kName, kInt, kFloat, kText, kSign, kNewline, kIndent, kDedent };
  Kind kind = Kind::kEnd;
  int line = 0;
  std::string_view text;  // as written; refers to the source
  std::string value;      // the contents of kText, without escapes
  int64_t number = 0;
  double real = 0;
};

// Reads one token after the other. `source` must outlive the lexer and the tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}
  Result<Token> Next();

 private:
  Token Make(Token::Kind kind, size_t size);
  Result<bool> StartLine(Token& token);  // returns true if `token` is an indent or a dedent
  Result<Token> Number();
  Result<Token> Text();
  Result<Token> Sign();

  std::string_view source_;
  size_t at_ = 0;
  int line_ = 1;
  int brackets_ = 0;  // depth of open brackets; line ends inside brackets are ignored
  bool line_start_ = true;
  std::vector<size_t> indents_ = {0};
};

}  // namespace tern::torch::script
