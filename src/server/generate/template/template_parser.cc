// The statements of a template.
#include <set>

#include "server/generate/template/token_cursor.h"

namespace tern::server {
namespace {

using StatementKind = Statement::Kind;
using Token = TemplateToken::Kind;
constexpr int kMaxBlockDepth = 64;

class Parser {
 public:
  explicit Parser(std::vector<TemplateToken> tokens) : c_(std::move(tokens)), expressions_(c_) {}

  Result<Statements> Run() {
    TERN_ASSIGN(Statements out, Body({}));
    for (const auto& [name, line] : expressions_.calls())
      if (!IsTemplateFunction(name) && !macros_.count(name))
        return Unsupported("line ", line, ": the function '", name, "' is not supported");
    return out;
  }

 private:
  // Reads statements up to a tag that begins with one of these names, which is read too. Without names, reads
  // up to the end.
  Result<Statements> Body(const std::vector<std::string>& ends) {
    if (++depth_ > kMaxBlockDepth)
      return c_.Fail(StrCat("blocks are nested more than ", kMaxBlockDepth, " deep"));
    Statements out;
    while (true) {
      if (c_.Is(Token::kEnd)) {
        if (!ends.empty()) return c_.Fail(StrCat("the tag '", ends.back(), "' is missing"));
        break;
      }
      if (c_.Is(Token::kText)) {
        out.emplace_back();
        out.back().line = c_.line();
        out.back().text = c_.Take().text;
      } else if (c_.Is(Token::kOutput)) {
        TERN_TRY(Output(out));
      } else {
        c_.Take();  // kBlock
        TERN_ASSIGN(const std::string name, c_.Name());
        if (std::find(ends.begin(), ends.end(), name) != ends.end()) {
          end_ = name;
          break;
        }
        TERN_TRY(Tag(name, out));
      }
    }
    --depth_;
    return out;
  }

  Status EndTag() {
    if (!c_.Is(Token::kBlockEnd)) return c_.Fail(StrCat("the end of the tag is expected, got ", c_.Got()));
    c_.Take();
    return {};
  }

  Status Output(Statements& out) {
    const int line = c_.Take().line;
    Statement statement;
    statement.kind = StatementKind::kOutput;
    statement.line = line;
    TERN_ASSIGN(statement.value, expressions_.ParseTuple());
    if (!c_.Is(Token::kOutputEnd)) return c_.Fail(StrCat("'}}' is expected, got ", c_.Got()));
    c_.Take();
    out.push_back(std::move(statement));
    return {};
  }

  Status Tag(const std::string& name, Statements& out) {
    Statement statement;
    statement.line = c_.line();
    if (name == "if") {
      TERN_TRY(If(statement));
    } else if (name == "for") {
      TERN_TRY(For(statement));
    } else if (name == "set") {
      TERN_TRY(Set(statement));
    } else if (name == "macro") {
      TERN_TRY(Macro(statement));
    } else if (name == "generation") {
      statement.kind = StatementKind::kBody;
      TERN_TRY(EndTag());
      TERN_ASSIGN(Statements body, Body({"endgeneration"}));
      statement.bodies.push_back(std::move(body));
      TERN_TRY(EndTag());
    } else if (name == "filter") {
      statement.kind = StatementKind::kFilterBlock;
      TERN_ASSIGN(statement.value, expressions_.ParseFilterBlock());
      TERN_TRY(EndTag());
      TERN_ASSIGN(Statements body, Body({"endfilter"}));
      statement.bodies.push_back(std::move(body));
      TERN_TRY(EndTag());
    } else if ((name == "break" || name == "continue") && loops_ > 0) {
      statement.kind = name == "break" ? StatementKind::kBreak : StatementKind::kContinue;
      TERN_TRY(EndTag());
    } else {
      return Unsupported("line ", statement.line, ": the statement '", name, "' is not supported",
                         name == "break" || name == "continue" ? " outside of a loop" : "");
    }
    out.push_back(std::move(statement));
    return {};
  }

  Status If(Statement& statement) {
    statement.kind = StatementKind::kIf;
    std::string tag = "if";
    while (tag != "endif") {
      if (tag != "else") {
        TERN_ASSIGN(ExpressionPtr condition, expressions_.ParseTuple());
        statement.conditions.push_back(std::move(condition));
      }
      TERN_TRY(EndTag());
      const bool last = tag == "else";
      TERN_ASSIGN(Statements body, Body(last ? std::vector<std::string>{"endif"}
                                             : std::vector<std::string>{"elif", "else", "endif"}));
      statement.bodies.push_back(std::move(body));
      tag = end_;
    }
    return EndTag();
  }

  Status For(Statement& statement) {
    statement.kind = StatementKind::kFor;
    TERN_TRY(Names(statement.names));
    if (!c_.TakeName("in")) return c_.Fail(StrCat("'in' is expected, got ", c_.Got()));
    TERN_ASSIGN(statement.value, expressions_.ParseNoCondition());
    if (c_.TakeName("if")) {
      TERN_ASSIGN(statement.filter, expressions_.Parse());
    }
    if (c_.IsName("recursive")) return Unsupported("line ", c_.line(), ": recursive loops are not supported");
    TERN_TRY(EndTag());
    ++loops_;
    TERN_ASSIGN(Statements body, Body({"else", "endfor"}));
    --loops_;
    statement.bodies.push_back(std::move(body));
    if (end_ == "else") {
      TERN_TRY(EndTag());
      TERN_ASSIGN(Statements otherwise, Body({"endfor"}));
      statement.bodies.push_back(std::move(otherwise));
    }
    return EndTag();
  }

  // Reads names that are separated by commas, possibly in parentheses.
  Status Names(std::vector<std::string>& out) {
    const bool parentheses = c_.TakeOperator("(");
    do {
      TERN_ASSIGN(std::string name, c_.Name());
      out.push_back(std::move(name));
    } while (c_.TakeOperator(","));
    return parentheses ? c_.Expect(")") : Status();
  }

  Status Set(Statement& statement) {
    statement.kind = StatementKind::kSet;
    TERN_TRY(Names(statement.names));
    if (statement.names.size() == 1 && c_.TakeOperator(".")) {
      TERN_ASSIGN(statement.member, c_.Name());
    }
    if (c_.TakeOperator("=")) {
      TERN_ASSIGN(statement.value, expressions_.ParseTuple());
      return EndTag();
    }
    if (statement.names.size() != 1 || !statement.member.empty())
      return c_.Fail(StrCat("'=' is expected, got ", c_.Got()));
    if (c_.IsOperator("|"))
      return Unsupported("line ", c_.line(), ": a filter of a 'set' block is not supported");
    statement.kind = StatementKind::kSetBlock;
    TERN_TRY(EndTag());
    TERN_ASSIGN(Statements body, Body({"endset"}));
    statement.bodies.push_back(std::move(body));
    return EndTag();
  }

  Status Macro(Statement& statement) {
    statement.kind = StatementKind::kMacro;
    TERN_ASSIGN(statement.text, c_.Name());
    macros_.insert(statement.text);
    TERN_TRY(c_.Expect("("));
    while (!c_.TakeOperator(")")) {
      TERN_ASSIGN(std::string name, c_.Name());
      statement.names.push_back(std::move(name));
      if (c_.TakeOperator("=")) {
        TERN_ASSIGN(ExpressionPtr value, expressions_.Parse());
        statement.defaults.push_back(std::move(value));
      } else if (!statement.defaults.empty()) {
        return c_.Fail("a parameter without a default follows one with a default");
      }
      if (!c_.IsOperator(")")) TERN_TRY(c_.Expect(","));
    }
    TERN_TRY(EndTag());
    const int loops = std::exchange(loops_, 0);
    TERN_ASSIGN(Statements body, Body({"endmacro"}));
    loops_ = loops;
    statement.bodies.push_back(std::move(body));
    return EndTag();
  }

  TokenCursor c_;
  ExpressionParser expressions_;
  std::set<std::string> macros_;
  std::string end_;  // the tag that ended the last body
  int depth_ = 0, loops_ = 0;
};

}  // namespace

Result<Statements> ParseTemplate(std::string_view text) {
  TERN_ASSIGN(std::vector<TemplateToken> tokens, ReadTemplateTokens(text));
  return Parser(std::move(tokens)).Run();
}

}  // namespace tern::server
