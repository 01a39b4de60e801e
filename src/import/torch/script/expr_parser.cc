#include "import/torch/script/expr_parser.h"

#include <algorithm>
#include <array>
#include <limits>

namespace tern::torch::script {
namespace {

constexpr int kMaxExprDepth = 400;

// Binary operators, from the weakest to the strongest. `not` is between `and` and the comparisons.
constexpr std::array<std::array<std::string_view, 10>, 9> kOperators = {{
    {"or"},
    {"and"},
    {"<", ">", "==", "!=", "<=", ">=", "is", "is not", "in", "not in"},
    {"|"},
    {"^"},
    {"&"},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "/", "//", "%", "@"},
}};
constexpr int kComparison = 2;

}  // namespace

Status ExprParser::Nesting::status() const {
  if (parser_.depth_ <= kMaxExprDepth) return {};
  return InvalidModel("line ", parser_.line(), ": the code is nested more than ", kMaxExprDepth, " deep");
}

Status ExprParser::Advance() {
  TERN_ASSIGN(token_, lexer_.Next());
  return {};
}

Result<bool> ExprParser::Take(std::string_view sign) {
  if (!IsSign(sign)) return false;
  TERN_TRY(Advance());
  return true;
}

Status ExprParser::Expect(std::string_view sign) {
  if (!IsSign(sign)) return Unexpected(StrCat("'", sign, "'"));
  return Advance();
}

Result<std::string> ExprParser::TakeName() {
  if (!Is(Token::Kind::kName)) return Unexpected("a name");
  std::string name(token_.text);
  TERN_TRY(Advance());
  return name;
}

Status ExprParser::Unexpected(std::string_view wanted) const {
  std::string found = StrCat("'", token_.text.substr(0, 40), "'");
  if (Is(Token::Kind::kEnd)) found = "the end of the file";
  if (Is(Token::Kind::kNewline)) found = "the end of the line";
  if (Is(Token::Kind::kIndent) || Is(Token::Kind::kDedent)) found = "another indentation";
  return InvalidModel("line ", line(), ": expected ", wanted, ", found ", found);
}

ExprPtr ExprParser::Make(Expr::Kind kind) const {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->line = line();
  return expr;
}

Result<ExprPtr> ExprParser::ParseExpr() {
  const Nesting nesting(*this);
  TERN_TRY(nesting.status());
  TERN_ASSIGN(ExprPtr value, ParseBinary(0));
  if (!IsWord("if")) return value;
  ExprPtr ternary = Make(Expr::Kind::kTernary);
  TERN_TRY(Advance());
  TERN_ASSIGN(ExprPtr condition, ParseBinary(0));
  if (!IsWord("else")) return Unexpected("'else'");
  TERN_TRY(Advance());
  TERN_ASSIGN(ExprPtr other, ParseExpr());
  ternary->items.push_back(std::move(condition));
  ternary->items.push_back(std::move(value));
  ternary->items.push_back(std::move(other));
  return ternary;
}

Result<ExprPtr> ExprParser::ParseExprs() {
  TERN_ASSIGN(ExprPtr first, ParseExpr());
  if (!IsSign(",")) return first;
  ExprPtr tuple = Make(Expr::Kind::kTuple);
  tuple->items.push_back(std::move(first));
  while (IsSign(",")) {
    TERN_TRY(Advance());
    if (IsSign("=") || Is(Token::Kind::kNewline) || Is(Token::Kind::kEnd)) break;
    TERN_ASSIGN(ExprPtr item, ParseExpr());
    tuple->items.push_back(std::move(item));
  }
  return tuple;
}

Result<ExprPtr> ExprParser::ParseTargets() {
  TERN_ASSIGN(ExprPtr first, ParsePostfix());
  if (!IsSign(",")) return first;
  ExprPtr tuple = Make(Expr::Kind::kTuple);
  tuple->items.push_back(std::move(first));
  while (IsSign(",")) {
    TERN_TRY(Advance());
    if (IsWord("in") || IsSign(":")) break;
    TERN_ASSIGN(ExprPtr item, ParsePostfix());
    tuple->items.push_back(std::move(item));
  }
  return tuple;
}

// Returns the operator of this level at the current position, or an empty text.
Result<std::string> ExprParser::TakeOperator(int level) {
  if (!Is(Token::Kind::kSign) && !Is(Token::Kind::kName)) return std::string();
  const auto& row = kOperators[static_cast<size_t>(level)];
  std::string text(token_.text);
  if (level == kComparison && text == "not") {
    TERN_TRY(Advance());
    if (!IsWord("in")) return Unexpected("'in'");
    TERN_TRY(Advance());
    return std::string("not in");
  }
  if (text.empty() || std::find(row.begin(), row.end(), text) == row.end()) return std::string();
  TERN_TRY(Advance());
  if (text == "is" && IsWord("not")) {
    TERN_TRY(Advance());
    return std::string("is not");
  }
  return text;
}

Result<ExprPtr> ExprParser::ParseBinary(int level) {
  if (level == static_cast<int>(kOperators.size())) return ParseUnary();
  if (level == kComparison && IsWord("not")) {
    const Nesting nesting(*this);
    TERN_TRY(nesting.status());
    ExprPtr negation = Make(Expr::Kind::kUnary);
    negation->text = "not";
    TERN_TRY(Advance());
    TERN_ASSIGN(ExprPtr operand, ParseBinary(level));
    negation->items.push_back(std::move(operand));
    return negation;
  }
  TERN_ASSIGN(ExprPtr left, ParseBinary(level + 1));
  // A chain of operators makes a tree that leans to the left, so its length counts as depth.
  for (int length = 0;; ++length) {
    ExprPtr binary = Make(Expr::Kind::kBinary);
    TERN_ASSIGN(binary->text, TakeOperator(level));
    if (binary->text.empty()) return left;
    if (length >= kMaxExprDepth) return InvalidModel("line ", line(), ": an expression is too long");
    TERN_ASSIGN(ExprPtr right, ParseBinary(level + 1));
    binary->items.push_back(std::move(left));
    binary->items.push_back(std::move(right));
    left = std::move(binary);
  }
}

Result<ExprPtr> ExprParser::ParseUnary() {
  if (!IsSign("-") && !IsSign("~") && !IsSign("+")) return ParsePostfix();
  const Nesting nesting(*this);
  TERN_TRY(nesting.status());
  ExprPtr unary = Make(Expr::Kind::kUnary);
  unary->text = std::string(token_.text);
  TERN_TRY(Advance());
  TERN_ASSIGN(ExprPtr operand, ParseUnary());
  if (unary->text == "+") return operand;
  if (unary->text == "-" && operand->kind == Expr::Kind::kInt) {
    operand->number = static_cast<int64_t>(0 - static_cast<uint64_t>(operand->number));
    return operand;
  }
  if (unary->text == "-" && operand->kind == Expr::Kind::kFloat) {
    operand->real = -operand->real;
    return operand;
  }
  unary->items.push_back(std::move(operand));
  return unary;
}

Result<ExprPtr> ExprParser::ParsePostfix() {
  TERN_ASSIGN(ExprPtr value, ParseAtom());
  for (int length = 0;; ++length) {
    if (length >= kMaxExprDepth) return InvalidModel("line ", line(), ": an expression is too long");
    ExprPtr next;
    if (IsSign(".")) {
      next = Make(Expr::Kind::kAttribute);
      TERN_TRY(Advance());
      TERN_ASSIGN(next->text, TakeName());
      next->items.push_back(std::move(value));
    } else if (IsSign("[")) {
      next = Make(Expr::Kind::kSubscript);
      TERN_TRY(Advance());
      next->items.push_back(std::move(value));
      TERN_ASSIGN(ExprPtr index, ParseSubscript());
      next->items.push_back(std::move(index));
    } else if (IsSign("(")) {
      next = Make(Expr::Kind::kCall);
      TERN_TRY(Advance());
      next->items.push_back(std::move(value));
      TERN_TRY(ParseArguments(*next));
    } else {
      return value;
    }
    value = std::move(next);
  }
}

Status ExprParser::ParseArguments(Expr& call) {
  while (!IsSign(")")) {
    TERN_ASSIGN(ExprPtr argument, ParseExpr());
    TERN_ASSIGN(const bool keyword, Take("="));
    if (keyword) {
      if (argument->kind != Expr::Kind::kName) return Unexpected("the name of a parameter before '='");
      TERN_ASSIGN(ExprPtr value, ParseExpr());
      call.keywords.emplace_back(argument->text, std::move(value));
    } else {
      if (!call.keywords.empty()) return Unexpected("a keyword argument");
      call.items.push_back(std::move(argument));
    }
    if (!IsSign(")")) TERN_TRY(Expect(","));
  }
  return Advance();
}

// Parses what follows '[': an index, a slice, or a tuple of both.
Result<ExprPtr> ExprParser::ParseSubscript() {
  std::vector<ExprPtr> indices;
  bool comma = false;
  while (!IsSign("]")) {
    ExprPtr slice = Make(Expr::Kind::kSlice);
    bool colon = false;
    for (int part = 0; part < 3; ++part) {
      ExprPtr value;
      if (!IsSign(":") && !IsSign("]") && !IsSign(",")) {
        TERN_ASSIGN(value, ParseExpr());
      }
      slice->items.push_back(std::move(value));
      TERN_ASSIGN(const bool more, Take(":"));
      colon |= more;
      if (!more) break;
    }
    slice->items.resize(3);
    if (!colon && !slice->items[0]) return Unexpected("an index");
    indices.push_back(colon ? std::move(slice) : std::move(slice->items[0]));
    if (!IsSign("]")) {
      TERN_TRY(Expect(","));
      comma = true;
    }
  }
  ExprPtr tuple = Make(Expr::Kind::kTuple);
  TERN_TRY(Advance());
  if (indices.size() == 1 && !comma) return std::move(indices[0]);
  tuple->items = std::move(indices);
  return tuple;
}

Status ExprParser::ParseItems(std::string_view close, Expr& into, bool& comma) {
  while (!IsSign(close)) {
    TERN_ASSIGN(ExprPtr item, ParseExpr());
    into.items.push_back(std::move(item));
    if (IsSign(close)) break;
    TERN_TRY(Expect(","));
    comma = true;
  }
  return Advance();
}

Result<ExprPtr> ExprParser::ParseBrackets() {
  const bool list = IsSign("[");
  ExprPtr items = Make(list ? Expr::Kind::kList : Expr::Kind::kTuple);
  TERN_TRY(Advance());
  bool comma = false;
  TERN_TRY(ParseItems(list ? "]" : ")", *items, comma));
  if (!list && !comma && items->items.size() == 1) return std::move(items->items[0]);
  return items;
}

Result<ExprPtr> ExprParser::ParseDict() {
  ExprPtr dict = Make(Expr::Kind::kDict);
  TERN_TRY(Advance());
  while (!IsSign("}")) {
    TERN_ASSIGN(ExprPtr key, ParseExpr());
    TERN_TRY(Expect(":"));
    TERN_ASSIGN(ExprPtr value, ParseExpr());
    dict->items.push_back(std::move(key));
    dict->items.push_back(std::move(value));
    if (!IsSign("}")) TERN_TRY(Expect(","));
  }
  TERN_TRY(Advance());
  return dict;
}

Result<ExprPtr> ExprParser::ParseWord() {
  ExprPtr word = Make(Expr::Kind::kName);
  word->text = std::string(token_.text);
  if (word->text == "None") word->kind = Expr::Kind::kNone;
  if (word->text == "True" || word->text == "False") word->kind = Expr::Kind::kBool;
  if (word->kind == Expr::Kind::kBool) word->number = word->text == "True";
  if (word->text == "inf" || word->text == "nan") {
    word->kind = Expr::Kind::kFloat;
    word->real = word->text == "inf" ? std::numeric_limits<double>::infinity()
                                     : std::numeric_limits<double>::quiet_NaN();
  }
  TERN_TRY(Advance());
  return word;
}

Result<ExprPtr> ExprParser::ParseAtom() {
  const Nesting nesting(*this);
  TERN_TRY(nesting.status());
  if (IsSign("(") || IsSign("[")) return ParseBrackets();
  if (IsSign("{")) return ParseDict();
  if (Is(Token::Kind::kName)) return ParseWord();
  ExprPtr literal = Make(Expr::Kind::kInt);
  if (IsSign("...")) {
    literal->kind = Expr::Kind::kEllipsis;
  } else if (Is(Token::Kind::kInt)) {
    literal->number = token_.number;
  } else if (Is(Token::Kind::kFloat)) {
    literal->kind = Expr::Kind::kFloat;
    literal->real = token_.real;
  } else if (Is(Token::Kind::kText)) {
    literal->kind = Expr::Kind::kText;
    literal->text = token_.value;
  } else {
    return Unexpected("an expression");
  }
  TERN_TRY(Advance());
  return literal;
}

}  // namespace tern::torch::script
