// The parsed form of a template.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/generate/template/lexer.h"
#include "server/generate/template/value.h"

namespace tern::server {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Expression {
  enum class Kind {
    kConstant,
    kName,
    kMember,       // args[0].name
    kIndex,        // args[0][args[1]]
    kSlice,        // args[0][args[1]:args[2]:args[3]]; a missing bound is null
    kCall,         // name(args), a function or a macro
    kMethod,       // args[0].name(args[1], …)
    kFilter,       // args[0] | name(args[1], …)
    kTest,         // args[0] is name(args[1], …)
    kUnary,        // name is "not", "-" or "+"
    kBinary,       // name is an operator
    kConditional,  // args[1] if args[0] else args[2]
    kList,
    kObject,  // keys and values in turn
  };
  Kind kind = Kind::kConstant;
  int line = 1;
  std::string name;
  TemplateValue constant;
  std::vector<ExpressionPtr> args;
  std::vector<std::pair<std::string, ExpressionPtr>> named;  // keyword arguments
};

// The variable of the text to which the filters of a block are applied. No template can name it.
inline constexpr char kCapturedName[] = " captured";

struct Statement;
using Statements = std::vector<Statement>;

struct Statement {
  enum class Kind {
    kText,
    kOutput,
    kIf,
    kFor,
    kSet,
    kSetBlock,
    kFilterBlock,
    kMacro,
    kBreak,
    kContinue,
    kBody
  };
  Kind kind = Kind::kText;
  int line = 1;
  std::string text;                     // of kText; the name of kMacro
  ExpressionPtr value;                  // kOutput, kSet, the list of kFor
  ExpressionPtr filter;                 // kFor: the condition of elements
  std::vector<std::string> names;       // targets of kFor and kSet; the parameters of kMacro
  std::vector<ExpressionPtr> defaults;  // kMacro: of the last parameters
  std::string member;                   // kSet: names[0].member
  // kIf: a body per condition, and one more without a condition for `else`.
  std::vector<ExpressionPtr> conditions;
  std::vector<Statements> bodies;  // kFor: the body, and that of `else`
};

// Fails with kUnsupported for constructs that ChatTemplate does not support.
Result<Statements> ParseTemplate(std::string_view text);

// The names that the library knows; see library.h.
bool IsTemplateFilter(std::string_view name);
bool IsTemplateTest(std::string_view name);
bool IsTemplateFunction(std::string_view name);
bool IsTemplateMethod(std::string_view name);

}  // namespace tern::server
