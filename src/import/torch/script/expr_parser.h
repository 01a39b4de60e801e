// Parses expressions of TorchScript's code.
#pragma once
#include <string>
#include <string_view>

#include "import/torch/script/ast.h"
#include "import/torch/script/lexer.h"

namespace tern::torch::script {

class ExprParser {
 public:
  explicit ExprParser(std::string_view source) : lexer_(source) {}

 protected:
  // Counts how deep expressions and statements are nested. The parser and the interpreter are recursive, so
  // the depth is limited.
  class Nesting {
   public:
    explicit Nesting(ExprParser& parser) : parser_(parser) { ++parser_.depth_; }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Status status() const;

   private:
    ExprParser& parser_;
  };

  Result<ExprPtr> ParseExpr();
  Result<ExprPtr> ParseExprs();    // one expression, or a tuple without brackets
  Result<ExprPtr> ParseTargets();  // the variables of `for` and `with`

  Status Advance();
  bool Is(Token::Kind kind) const { return token_.kind == kind; }
  bool IsSign(std::string_view sign) const { return Is(Token::Kind::kSign) && token_.text == sign; }
  bool IsWord(std::string_view word) const { return Is(Token::Kind::kName) && token_.text == word; }
  Result<bool> Take(std::string_view sign);  // returns true if the sign was there
  Status Expect(std::string_view sign);
  Result<std::string> TakeName();
  Status Unexpected(std::string_view wanted) const;
  int line() const { return token_.line; }

 private:
  ExprPtr Make(Expr::Kind kind) const;
  Result<ExprPtr> ParseBinary(int level);
  Result<ExprPtr> ParseUnary();
  Result<ExprPtr> ParsePostfix();
  Result<ExprPtr> ParseAtom();
  Result<ExprPtr> ParseWord();
  Result<ExprPtr> ParseBrackets();
  Result<ExprPtr> ParseDict();
  Result<ExprPtr> ParseSubscript();
  Status ParseItems(std::string_view close, Expr& into, bool& comma);
  Status ParseArguments(Expr& call);
  Result<std::string> TakeOperator(int level);

  Lexer lexer_;
  Token token_;
  int depth_ = 0;
};

}  // namespace tern::torch::script
