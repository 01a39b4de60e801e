// Reads the tokens of a template one by one.
#pragma once
#include <algorithm>

#include "server/generate/template/syntax.h"

namespace tern::server {

class TokenCursor {
 public:
  using Kind = TemplateToken::Kind;
  explicit TokenCursor(std::vector<TemplateToken> tokens) : tokens_(std::move(tokens)) {}

  const TemplateToken& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  int line() const { return Peek().line; }
  bool Is(Kind kind) const { return Peek().kind == kind; }
  bool IsOperator(std::string_view text, size_t ahead = 0) const {
    return Peek(ahead).kind == Kind::kOperator && Peek(ahead).text == text;
  }
  bool IsName(std::string_view text, size_t ahead = 0) const {
    return Peek(ahead).kind == Kind::kName && Peek(ahead).text == text;
  }
  TemplateToken Take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_.back(); }
  bool TakeOperator(std::string_view text) { return IsOperator(text) && (Take(), true); }
  bool TakeName(std::string_view text) { return IsName(text) && (Take(), true); }

  Status Fail(std::string_view what) const { return InvalidModel("line ", line(), ": ", what); }
  Status Expect(std::string_view op) {
    return TakeOperator(op) ? Status() : Fail(StrCat("'", op, "' is expected, got ", Got()));
  }
  Result<std::string> Name() {
    if (!Is(Kind::kName)) return Fail(StrCat("a name is expected, got ", Got()));
    return Take().text;
  }
  std::string Got() const {
    switch (Peek().kind) {
      case Kind::kOutputEnd:
      case Kind::kBlockEnd:
        return "the end of the tag";
      case Kind::kEnd:
        return "the end of the template";
      default:
        return StrCat("'", Peek().text, "'");
    }
  }

 private:
  const std::vector<TemplateToken> tokens_;  // ends in a token kEnd
  size_t at_ = 0;
};

// Reads expressions. Limits their nesting.
class ExpressionParser {
 public:
  explicit ExpressionParser(TokenCursor& cursor) : c_(cursor) {}
  Result<ExpressionPtr> Parse();             // a whole expression
  Result<ExpressionPtr> ParseNoCondition();  // without `if … else`
  Result<ExpressionPtr> ParseTuple();        // expressions, separated by commas, are a list
  Result<ExpressionPtr> ParseFilterBlock();  // the filters of kCapturedName, separated by '|'
  // Names of functions that are called, for a check when all macros are known.
  const std::vector<std::pair<std::string, int>>& calls() const { return calls_; }

 private:
  using Level = Result<ExpressionPtr> (ExpressionParser::*)();
  Result<ExpressionPtr> Or();
  Result<ExpressionPtr> And();
  Result<ExpressionPtr> Not();
  Result<ExpressionPtr> Compare();
  Result<ExpressionPtr> Sum();
  Result<ExpressionPtr> Concat();
  Result<ExpressionPtr> Product();
  Result<ExpressionPtr> Power();
  Result<ExpressionPtr> Unary(bool filters);
  Result<ExpressionPtr> Primary();
  Result<ExpressionPtr> Constant(TemplateToken token);
  Result<ExpressionPtr> Postfix(ExpressionPtr value);
  Result<ExpressionPtr> Subscript(ExpressionPtr value);
  Result<ExpressionPtr> Filters(ExpressionPtr value);
  Result<ExpressionPtr> Test(ExpressionPtr value);
  Result<ExpressionPtr> List(std::string_view close);
  Result<ExpressionPtr> Object();
  Status Arguments(Expression& call);
  Result<ExpressionPtr> Binary(Level next, std::initializer_list<std::string_view> operators);
  Status Enter();
  Status Count();

  TokenCursor& c_;
  std::vector<std::pair<std::string, int>> calls_;
  int depth_ = 0, operators_ = 0;
};

}  // namespace tern::server
