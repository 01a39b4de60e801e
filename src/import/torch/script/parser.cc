#include "import/torch/script/parser.h"

#include "import/torch/script/expr_parser.h"

namespace tern::torch::script {
namespace {

class Parser : private ExprParser {
 public:
  using ExprParser::ExprParser;

  Result<Unit> Parse() {
    TERN_TRY(Advance());
    Unit unit;
    while (!Is(Token::Kind::kEnd)) {
      if (IsWord("class")) {
        TERN_ASSIGN(auto parsed, ParseClass());
        unit.classes.push_back(std::move(parsed));
      } else if (IsWord("def")) {
        TERN_ASSIGN(auto parsed, ParseFunction());
        unit.functions.push_back(std::move(parsed));
      } else if (IsWord("import") || IsWord("op_version_set")) {
        TERN_TRY(SkipLine());  // written by PyTorch before 1.4
      } else {
        return Unexpected("a class or a function");
      }
    }
    return unit;
  }

 private:
  Status SkipLine() {
    while (!Is(Token::Kind::kNewline) && !Is(Token::Kind::kEnd)) TERN_TRY(Advance());
    return Is(Token::Kind::kEnd) ? Status() : Advance();
  }

  Result<std::shared_ptr<Class>> ParseClass() {
    auto parsed = std::make_shared<Class>();
    parsed->line = line();
    TERN_TRY(Advance());
    TERN_ASSIGN(parsed->name, TakeName());
    TERN_ASSIGN(const bool bases, Take("("));
    if (bases) {
      if (Is(Token::Kind::kName)) {
        TERN_ASSIGN(parsed->base, TakeName());
      }
      TERN_TRY(Expect(")"));
    }
    TERN_TRY(OpenBlock());
    while (!Is(Token::Kind::kDedent)) {
      if (IsWord("def")) {
        TERN_ASSIGN(auto method, ParseFunction());
        parsed->methods.push_back(std::move(method));
      } else {
        TERN_ASSIGN(auto field, ParseSimple());
        if (field->kind != Statement::Kind::kPass) parsed->fields.push_back(std::move(field));
      }
    }
    TERN_TRY(Advance());
    return parsed;
  }

  Status OpenBlock() {
    TERN_TRY(Expect(":"));
    if (!Is(Token::Kind::kNewline)) return Unexpected("the end of the line");
    TERN_TRY(Advance());
    if (!Is(Token::Kind::kIndent)) return Unexpected("an indented block");
    return Advance();
  }

  Result<Block> ParseBlock() {
    TERN_TRY(OpenBlock());
    Block block;
    while (!Is(Token::Kind::kDedent)) {
      TERN_ASSIGN(auto statement, ParseStatement());
      block.push_back(std::move(statement));
    }
    TERN_TRY(Advance());
    return block;
  }

  Result<std::shared_ptr<Function>> ParseFunction() {
    const Nesting nesting(*this);
    TERN_TRY(nesting.status());
    auto parsed = std::make_shared<Function>();
    parsed->line = line();
    TERN_TRY(Advance());
    TERN_ASSIGN(parsed->name, TakeName());
    TERN_TRY(Expect("("));
    bool keyword = false;
    while (!IsSign(")")) {
      TERN_ASSIGN(const bool star, Take("*"));
      if (star) {
        keyword = true;
      } else {
        TERN_ASSIGN(Parameter parameter, ParseParameter());
        parameter.keyword = keyword;
        parsed->parameters.push_back(std::move(parameter));
      }
      if (!IsSign(")")) TERN_TRY(Expect(","));
    }
    TERN_TRY(Expect(")"));
    TERN_ASSIGN(const bool arrow, Take("->"));
    if (arrow) {
      TERN_ASSIGN(parsed->result, ParseExpr());
    }
    TERN_ASSIGN(parsed->body, ParseBlock());
    return parsed;
  }

  Result<Parameter> ParseParameter() {
    Parameter parameter;
    TERN_ASSIGN(parameter.name, TakeName());
    TERN_ASSIGN(const bool typed, Take(":"));
    if (typed) {
      TERN_ASSIGN(parameter.type, ParseExpr());
    }
    TERN_ASSIGN(const bool valued, Take("="));
    if (valued) {
      TERN_ASSIGN(parameter.otherwise, ParseExpr());
    }
    return parameter;
  }

  std::unique_ptr<Statement> Make(Statement::Kind kind) {
    auto statement = std::make_unique<Statement>();
    statement->kind = kind;
    statement->line = line();
    return statement;
  }

  Result<std::unique_ptr<Statement>> ParseStatement() {
    const Nesting nesting(*this);
    TERN_TRY(nesting.status());
    if (IsWord("if")) return ParseIf();
    if (IsWord("for")) return ParseFor();
    if (IsWord("while")) {
      auto statement = Make(Statement::Kind::kWhile);
      TERN_TRY(Advance());
      TERN_ASSIGN(statement->value, ParseExpr());
      TERN_ASSIGN(statement->body, ParseBlock());
      return statement;
    }
    if (IsWord("with")) return ParseWith();
    if (IsWord("def")) {
      auto statement = Make(Statement::Kind::kDef);
      TERN_ASSIGN(statement->function, ParseFunction());
      return statement;
    }
    return ParseSimple();
  }

  Result<std::unique_ptr<Statement>> ParseIf() {
    auto statement = Make(Statement::Kind::kIf);
    TERN_TRY(Advance());
    TERN_ASSIGN(statement->value, ParseExpr());
    TERN_ASSIGN(statement->body, ParseBlock());
    if (IsWord("elif")) {
      const Nesting nesting(*this);
      TERN_TRY(nesting.status());
      TERN_ASSIGN(auto inner, ParseIf());
      statement->other.push_back(std::move(inner));
    } else if (IsWord("else")) {
      TERN_TRY(Advance());
      TERN_ASSIGN(statement->other, ParseBlock());
    }
    return statement;
  }

  Result<std::unique_ptr<Statement>> ParseFor() {
    auto statement = Make(Statement::Kind::kFor);
    TERN_TRY(Advance());
    TERN_ASSIGN(statement->target, ParseTargets());
    if (!IsWord("in")) return Unexpected("'in'");
    TERN_TRY(Advance());
    TERN_ASSIGN(statement->value, ParseExpr());
    TERN_ASSIGN(statement->body, ParseBlock());
    return statement;
  }

  Result<std::unique_ptr<Statement>> ParseWith() {
    auto statement = Make(Statement::Kind::kWith);
    TERN_TRY(Advance());
    TERN_ASSIGN(statement->value, ParseExpr());
    if (IsWord("as")) {
      TERN_TRY(Advance());
      TERN_ASSIGN(statement->target, ParseTargets());
    }
    TERN_ASSIGN(statement->body, ParseBlock());
    return statement;
  }

  // Parses a statement that ends with its line.
  Result<std::unique_ptr<Statement>> ParseSimple() {
    TERN_ASSIGN(auto statement, ParseLine());
    if (Is(Token::Kind::kEnd)) return statement;
    if (!Is(Token::Kind::kNewline)) return Unexpected("the end of the line");
    TERN_TRY(Advance());
    return statement;
  }

  Result<std::unique_ptr<Statement>> ParseLine() {
    for (const auto& [word, kind] :
         {std::pair("pass", Statement::Kind::kPass), std::pair("break", Statement::Kind::kBreak),
          std::pair("continue", Statement::Kind::kContinue)}) {
      if (!IsWord(word)) continue;
      auto statement = Make(kind);
      TERN_TRY(Advance());
      return statement;
    }
    if (IsWord("return") || IsWord("raise")) {
      auto statement = Make(IsWord("return") ? Statement::Kind::kReturn : Statement::Kind::kRaise);
      TERN_TRY(Advance());
      if (Is(Token::Kind::kNewline) || Is(Token::Kind::kEnd)) return statement;
      TERN_ASSIGN(statement->value, ParseExprs());
      return statement;
    }
    if (IsWord("assert")) {
      auto statement = Make(Statement::Kind::kAssert);
      TERN_TRY(Advance());
      TERN_ASSIGN(statement->value, ParseExpr());
      TERN_ASSIGN(const bool message, Take(","));
      if (message) {
        TERN_ASSIGN(statement->target, ParseExpr());
      }
      return statement;
    }
    return ParseAssignment();
  }

  Result<std::unique_ptr<Statement>> ParseAssignment() {
    auto statement = Make(Statement::Kind::kExpr);
    TERN_ASSIGN(statement->value, ParseExprs());
    TERN_ASSIGN(const bool typed, Take(":"));
    if (typed) {
      statement->kind = Statement::Kind::kDeclare;
      statement->target = std::move(statement->value);
      TERN_ASSIGN(statement->type, ParseExpr());
    }
    TERN_ASSIGN(const bool assigned, Take("="));
    if (!assigned) return statement;
    statement->kind = Statement::Kind::kAssign;
    if (!typed) statement->target = std::move(statement->value);
    TERN_TRY(CheckTarget(*statement->target));
    TERN_ASSIGN(statement->value, ParseExprs());
    return statement;
  }

  Status CheckTarget(const Expr& target) const {
    if (target.kind == Expr::Kind::kTuple) {
      for (const ExprPtr& item : target.items) TERN_TRY(CheckTarget(*item));
      return {};
    }
    if (target.kind == Expr::Kind::kName || target.kind == Expr::Kind::kAttribute ||
        target.kind == Expr::Kind::kSubscript)
      return {};
    return InvalidModel("line ", target.line, ": the left side of '=' is not a variable");
  }
};

}  // namespace

Result<Unit> Parse(std::string_view source) { return Parser(source).Parse(); }

}  // namespace tern::torch::script
