// The grammar of Jinja2's expressions, by precedence.
#include <algorithm>

#include "server/generate/template/token_cursor.h"

namespace tern::server {
namespace {

using ExpressionKind = Expression::Kind;
constexpr int kMaxExpressionDepth = 64;

ExpressionPtr Make(ExpressionKind kind, int line, std::string name = {}) {
  auto out = std::make_unique<Expression>();
  out->kind = kind;
  out->line = line;
  out->name = std::move(name);
  return out;
}

ExpressionPtr MakeBinary(int line, std::string name, ExpressionPtr a, ExpressionPtr b) {
  ExpressionPtr out = Make(ExpressionKind::kBinary, line, std::move(name));
  out->args.push_back(std::move(a));
  out->args.push_back(std::move(b));
  return out;
}

Status NotSupported(int line, std::string_view what, std::string_view name) {
  return Unsupported("line ", line, ": the ", what, " '", name, "' is not supported");
}

}  // namespace

// A chain of operators is a tree that is as deep as the chain is long.
Status ExpressionParser::Count() {
  constexpr int kMaxOperators = 1000;
  return ++operators_ > kMaxOperators
             ? c_.Fail(StrCat("an expression has more than ", kMaxOperators, " operators"))
             : Status();
}

// Every rule that can contain itself passes here, so that hostile templates cannot exhaust the stack.
Status ExpressionParser::Enter() {
  return depth_ > kMaxExpressionDepth
             ? c_.Fail(StrCat("expressions are nested more than ", kMaxExpressionDepth, " deep"))
             : Status();
}

Result<ExpressionPtr> ExpressionParser::Parse() {
  if (++depth_ == 1) operators_ = 0;
  TERN_TRY(Enter());
  TERN_ASSIGN(ExpressionPtr value, Or());
  while (c_.IsName("if")) {
    TERN_TRY(Count());
    const int line = c_.Take().line;
    ExpressionPtr out = Make(ExpressionKind::kConditional, line);
    TERN_ASSIGN(ExpressionPtr condition, Or());
    ExpressionPtr otherwise = Make(ExpressionKind::kConstant, line);
    if (c_.TakeName("else")) {
      TERN_ASSIGN(otherwise, Parse());
    }
    out->args.push_back(std::move(condition));
    out->args.push_back(std::move(value));
    out->args.push_back(std::move(otherwise));
    value = std::move(out);
  }
  --depth_;
  return value;
}

Result<ExpressionPtr> ExpressionParser::ParseNoCondition() {
  operators_ = 0;
  return Or();
}

Result<ExpressionPtr> ExpressionParser::ParseTuple() {
  TERN_ASSIGN(ExpressionPtr first, Parse());
  if (!c_.IsOperator(",")) return first;
  ExpressionPtr out = Make(ExpressionKind::kList, first->line);
  out->args.push_back(std::move(first));
  while (c_.TakeOperator(",")) {
    TERN_ASSIGN(ExpressionPtr next, Parse());
    out->args.push_back(std::move(next));
  }
  return out;
}

Result<ExpressionPtr> ExpressionParser::Binary(Level next,
                                               std::initializer_list<std::string_view> operators) {
  TERN_ASSIGN(ExpressionPtr value, (this->*next)());
  while (true) {
    const auto op = std::find_if(operators.begin(), operators.end(), [&](std::string_view text) {
      return c_.IsOperator(text) || ((text == "or" || text == "and") && c_.IsName(text));
    });
    if (op == operators.end()) return value;
    TERN_TRY(Count());
    const int line = c_.Take().line;
    TERN_ASSIGN(ExpressionPtr other, (this->*next)());
    value = MakeBinary(line, std::string(*op), std::move(value), std::move(other));
  }
}

Result<ExpressionPtr> ExpressionParser::Or() { return Binary(&ExpressionParser::And, {"or"}); }
Result<ExpressionPtr> ExpressionParser::And() { return Binary(&ExpressionParser::Not, {"and"}); }

Result<ExpressionPtr> ExpressionParser::Not() {
  if (!c_.IsName("not")) return Compare();
  ExpressionPtr out = Make(ExpressionKind::kUnary, c_.Take().line, "not");
  ++depth_;
  TERN_TRY(Enter());
  TERN_ASSIGN(ExpressionPtr value, Not());
  --depth_;
  out->args.push_back(std::move(value));
  return out;
}

// A chain of comparisons, such as a < b < c, is not supported.
Result<ExpressionPtr> ExpressionParser::Compare() {
  TERN_ASSIGN(ExpressionPtr value, Sum());
  constexpr std::string_view kCompare[] = {"==", "!=", "<=", ">=", "<", ">"};
  int count = 0;
  while (true) {
    const int line = c_.line();
    std::string op;
    for (const std::string_view text : kCompare)
      if (op.empty() && c_.TakeOperator(text)) op = text;
    if (op.empty() && c_.TakeName("in")) op = "in";
    if (op.empty() && c_.IsName("not") && c_.IsName("in", 1)) c_.Take(), c_.Take(), op = "not in";
    if (op.empty()) return value;
    if (++count > 1) return NotSupported(line, "chain of comparisons with", op);
    TERN_ASSIGN(ExpressionPtr other, Sum());
    value = MakeBinary(line, op, std::move(value), std::move(other));
  }
}

Result<ExpressionPtr> ExpressionParser::Sum() { return Binary(&ExpressionParser::Concat, {"+", "-"}); }
Result<ExpressionPtr> ExpressionParser::Concat() { return Binary(&ExpressionParser::Product, {"~"}); }
Result<ExpressionPtr> ExpressionParser::Product() {
  return Binary(&ExpressionParser::Power, {"*", "/", "//", "%"});
}
Result<ExpressionPtr> ExpressionParser::Power() {
  TERN_ASSIGN(ExpressionPtr value, Unary(true));
  if (c_.IsOperator("**")) return NotSupported(c_.line(), "operator", "**");
  return value;
}

Result<ExpressionPtr> ExpressionParser::Unary(bool filters) {
  ++depth_;
  TERN_TRY(Enter());
  ExpressionPtr value;
  if (c_.IsOperator("-") || c_.IsOperator("+")) {
    const TemplateToken sign = c_.Take();
    value = Make(ExpressionKind::kUnary, sign.line, sign.text);
    TERN_ASSIGN(ExpressionPtr operand, Unary(false));
    value->args.push_back(std::move(operand));
  } else {
    TERN_ASSIGN(value, Primary());
  }
  TERN_ASSIGN(value, Postfix(std::move(value)));
  if (filters) {
    TERN_ASSIGN(value, Filters(std::move(value)));
  }
  --depth_;
  return value;
}

Result<ExpressionPtr> ExpressionParser::Constant(TemplateToken token) {
  ExpressionPtr out = Make(ExpressionKind::kConstant, token.line);
  if (token.kind == TokenCursor::Kind::kString) {
    out->constant = TemplateValue::Text(std::move(token.text));
    while (c_.Is(TokenCursor::Kind::kString))
      out->constant = TemplateValue::Text(out->constant.text() + c_.Take().text);
    return out;
  }
  int64_t integer = 0;
  double real = 0;
  if (token.kind == TokenCursor::Kind::kInt && ParseInt(token.text, integer))
    out->constant = TemplateValue::Int(integer);
  else if (token.kind == TokenCursor::Kind::kFloat && ParseDouble(token.text, real))
    out->constant = TemplateValue::Float(real);
  else
    return c_.Fail(StrCat("the number ", token.text, " is out of range"));
  return out;
}

Result<ExpressionPtr> ExpressionParser::Primary() {
  using Token = TokenCursor::Kind;
  const int line = c_.line();
  if (c_.Is(Token::kString) || c_.Is(Token::kInt) || c_.Is(Token::kFloat)) return Constant(c_.Take());
  if (c_.TakeOperator("[")) return List("]");
  if (c_.TakeOperator("{")) return Object();
  if (c_.TakeOperator("(")) {
    TERN_ASSIGN(ExpressionPtr value, ParseTuple());
    TERN_TRY(c_.Expect(")"));
    return value;
  }
  TERN_ASSIGN(const std::string name, c_.Name());
  ExpressionPtr out = Make(ExpressionKind::kConstant, line);
  if (name == "true" || name == "True" || name == "false" || name == "False")
    out->constant = TemplateValue::Bool(name[0] == 't' || name[0] == 'T');
  else if (name == "none" || name == "None")
    out->constant = TemplateValue::Null();
  else
    out->kind = ExpressionKind::kName, out->name = name;
  return out;
}

Result<ExpressionPtr> ExpressionParser::List(std::string_view close) {
  ExpressionPtr out = Make(ExpressionKind::kList, c_.line());
  while (!c_.TakeOperator(close)) {
    TERN_ASSIGN(ExpressionPtr element, Parse());
    out->args.push_back(std::move(element));
    if (!c_.IsOperator(close)) TERN_TRY(c_.Expect(","));
  }
  return out;
}

Result<ExpressionPtr> ExpressionParser::Object() {
  ExpressionPtr out = Make(ExpressionKind::kObject, c_.line());
  while (!c_.TakeOperator("}")) {
    TERN_ASSIGN(ExpressionPtr key, Parse());
    TERN_TRY(c_.Expect(":"));
    TERN_ASSIGN(ExpressionPtr value, Parse());
    out->args.push_back(std::move(key));
    out->args.push_back(std::move(value));
    if (!c_.IsOperator("}")) TERN_TRY(c_.Expect(","));
  }
  return out;
}

Status ExpressionParser::Arguments(Expression& call) {
  while (!c_.TakeOperator(")")) {
    if (c_.IsOperator("*") || c_.IsOperator("**")) return NotSupported(c_.line(), "argument", c_.Peek().text);
    const bool named = c_.Is(TokenCursor::Kind::kName) && c_.IsOperator("=", 1);
    std::string name;
    if (named) name = c_.Take().text, c_.Take();
    TERN_ASSIGN(ExpressionPtr value, Parse());
    if (named)
      call.named.emplace_back(name, std::move(value));
    else
      call.args.push_back(std::move(value));
    if (!c_.IsOperator(")")) TERN_TRY(c_.Expect(","));
  }
  return {};
}

Result<ExpressionPtr> ExpressionParser::Postfix(ExpressionPtr value) {
  while (true) {
    TERN_TRY(Count());
    const int line = c_.line();
    if (c_.TakeOperator(".")) {
      if (!c_.Is(TokenCursor::Kind::kName)) return c_.Fail("a name is expected after '.'");
      const std::string name = c_.Take().text;
      const bool call = c_.TakeOperator("(");
      ExpressionPtr out = Make(call ? ExpressionKind::kMethod : ExpressionKind::kMember, line, name);
      out->args.push_back(std::move(value));
      if (call && !IsTemplateMethod(name)) return NotSupported(line, "method", name);
      if (call) TERN_TRY(Arguments(*out));
      value = std::move(out);
    } else if (c_.TakeOperator("[")) {
      TERN_ASSIGN(value, Subscript(std::move(value)));
    } else if (c_.TakeOperator("(")) {
      if (value->kind != ExpressionKind::kName) return NotSupported(line, "call of", "an expression");
      ExpressionPtr out = Make(ExpressionKind::kCall, line, value->name);
      calls_.emplace_back(value->name, line);
      TERN_TRY(Arguments(*out));
      value = std::move(out);
    } else {
      return value;
    }
  }
}

Result<ExpressionPtr> ExpressionParser::Subscript(ExpressionPtr value) {
  ExpressionPtr out = Make(ExpressionKind::kIndex, c_.line());
  out->args.push_back(std::move(value));
  if (!c_.IsOperator(":")) {
    TERN_ASSIGN(ExpressionPtr index, Parse());
    out->args.push_back(std::move(index));
    if (c_.TakeOperator("]")) return out;
  } else {
    out->args.push_back(nullptr);
  }
  out->kind = ExpressionKind::kSlice;
  while (c_.TakeOperator(":")) {
    if (out->args.size() > 3) return c_.Fail("a slice has more than three parts");
    ExpressionPtr bound;
    if (!c_.IsOperator(":") && !c_.IsOperator("]")) {
      TERN_ASSIGN(bound, Parse());
    }
    out->args.push_back(std::move(bound));
  }
  out->args.resize(4);
  TERN_TRY(c_.Expect("]"));
  return out;
}

Result<ExpressionPtr> ExpressionParser::Filters(ExpressionPtr value) {
  while (true) {
    TERN_TRY(Count());
    const int line = c_.line();
    if (c_.TakeName("is")) {
      TERN_ASSIGN(value, Test(std::move(value)));
      continue;
    }
    if (!c_.TakeOperator("|")) return value;
    TERN_ASSIGN(const std::string name, c_.Name());
    if (!IsTemplateFilter(name)) return NotSupported(line, "filter", name);
    ExpressionPtr out = Make(ExpressionKind::kFilter, line, name);
    out->args.push_back(std::move(value));
    if (c_.TakeOperator("(")) TERN_TRY(Arguments(*out));
    value = std::move(out);
    TERN_ASSIGN(value, Postfix(std::move(value)));
  }
}

Result<ExpressionPtr> ExpressionParser::ParseFilterBlock() {
  ExpressionPtr value = Make(ExpressionKind::kName, c_.line(), kCapturedName);
  operators_ = 0;
  do {
    TERN_TRY(Count());
    const int line = c_.line();
    TERN_ASSIGN(const std::string name, c_.Name());
    if (!IsTemplateFilter(name)) return NotSupported(line, "filter", name);
    ExpressionPtr out = Make(ExpressionKind::kFilter, line, name);
    out->args.push_back(std::move(value));
    if (c_.TakeOperator("(")) TERN_TRY(Arguments(*out));
    value = std::move(out);
  } while (c_.TakeOperator("|"));
  return value;
}

Result<ExpressionPtr> ExpressionParser::Test(ExpressionPtr value) {
  const bool negated = c_.TakeName("not");
  const int line = c_.line();
  TERN_ASSIGN(const std::string name, c_.Name());
  if (!IsTemplateTest(name)) return NotSupported(line, "test", name);
  ExpressionPtr out = Make(ExpressionKind::kTest, line, name);
  out->args.push_back(std::move(value));
  const TemplateToken& next = c_.Peek();
  using Token = TokenCursor::Kind;
  const bool word = next.kind == Token::kName && next.text != "and" && next.text != "or" &&
                    next.text != "if" && next.text != "else" && next.text != "is" && next.text != "in" &&
                    next.text != "not";
  if (c_.TakeOperator("(")) {
    TERN_TRY(Arguments(*out));
  } else if (word || next.kind == Token::kString || next.kind == Token::kInt || next.kind == Token::kFloat ||
             c_.IsOperator("[")) {
    TERN_ASSIGN(ExpressionPtr argument, Unary(false));
    out->args.push_back(std::move(argument));
  }
  if (!negated) return out;
  ExpressionPtr inverse = Make(ExpressionKind::kUnary, line, "not");
  inverse->args.push_back(std::move(out));
  return inverse;
}

}  // namespace tern::server
