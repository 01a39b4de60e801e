// The syntax tree of the Python subset in which TorchScript files store their code.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tern::torch::script {

struct Expr {
  enum class Kind {
    kNone,
    kBool,       // number is 0 or 1
    kInt,        // number
    kFloat,      // real
    kText,       // text
    kName,       // text
    kAttribute,  // items[0].text
    kSubscript,  // items[0][items[1]]
    kSlice,      // items[0]:items[1]:items[2], each may be null; only inside a subscript
    kCall,       // items[0](items[1], …, keywords)
    kList,
    kTuple,
    kDict,      // items are key, value, key, value, …
    kUnary,     // text is "-", "not" or "~"
    kBinary,    // text is the operator: "+", "<", "is not", "and" …
    kTernary,   // items[1] if items[0] else items[2]
    kEllipsis,  // ...
  };
  Kind kind = Kind::kNone;
  int line = 0;
  int64_t number = 0;
  double real = 0;
  std::string text;
  std::vector<std::unique_ptr<Expr>> items;
  std::vector<std::pair<std::string, std::unique_ptr<Expr>>> keywords;

  bool IsName(const char* name) const { return kind == Kind::kName && text == name; }
};
using ExprPtr = std::unique_ptr<Expr>;

struct Parameter {
  std::string name;
  ExprPtr type;          // null if not annotated
  ExprPtr otherwise;     // the default value, or null
  bool keyword = false;  // follows '*'
};

struct Statement;
using Block = std::vector<std::unique_ptr<Statement>>;

struct Function {
  std::string name;
  int line = 0;
  std::vector<Parameter> parameters;
  ExprPtr result;  // type of the result, or null
  Block body;
};

struct Statement {
  enum class Kind {
    kExpr,     // value
    kAssign,   // target[: type] = value
    kDeclare,  // target: type, in a class
    kIf,       // if value: body else: other
    kFor,      // for target in value: body
    kWhile,    // while value: body
    kWith,     // with value as target: body
    kReturn,   // value, may be null
    kRaise,    // value, may be null
    kAssert,   // assert value, target
    kPass,
    kBreak,
    kContinue,
    kDef,  // function
  };
  Kind kind = Kind::kPass;
  int line = 0;
  ExprPtr target, type, value;
  Block body, other;
  std::shared_ptr<Function> function;
};

struct Class {
  std::string name;
  std::string base;  // "Module", "NamedTuple", "Enum", "Interface", "ModuleInterface" or empty
  int line = 0;
  Block fields;  // kAssign and kDeclare
  std::vector<std::shared_ptr<Function>> methods;
};

// One file of code.
struct Unit {
  std::vector<std::shared_ptr<Class>> classes;
  std::vector<std::shared_ptr<Function>> functions;
};

}  // namespace tern::torch::script
