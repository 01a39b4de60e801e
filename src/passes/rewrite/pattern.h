// Patterns and replacements of rules. They are written in the IR's text form, with variables.
//
//   %c = Conv(%x, #w, #b?) {@conv}   %y = BatchNorm(%c, #gamma, #beta, #mean, #var) {epsilon=@eps}
//
// %x matches any value. #w matches a constant. An input with `?` may be absent. `_` matches only an absent
// input. A number matches a constant with one element of that value, up to rounding, unless the constant has
// more dims than the other operands. {kind="relu"} matches only this attribute value. {axis=@a} stores the
// attribute value as @a. {@conv} stores all attributes as @conv. A name that occurs twice stands for the same
// value or for equal constants. A value that is produced and read inside the pattern may not be read outside
// of the pattern, unless its statement ends with `shared`. The last statement is the root. Operands of
// commutative ops match in either order.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/attrs.h"
#include "ir/op_def.h"

namespace tern {

struct PatternOperand {
  enum class Kind : uint8_t {
    kAny,        // %x
    kConstant,   // #w
    kLiteral,    // 0.5
    kAttribute,  // @eps, a matched attribute as a number; in replacements only
    kNode,       // %c, a value that another statement produces
    kAbsent,     // _, the input is absent
  };
  Kind kind = Kind::kAny;
  bool optional = false;
  int variable = -1;  // index into Pattern::values (kAny, kConstant) or Pattern::attributes (kAttribute)
  double literal = 0;
  int node = -1, output = 0;  // for kNode: indices of the statement and of its output
};

struct PatternAttr {
  std::string name;
  // The required value. If it is nullopt, any value matches and is stored in `variable`.
  std::optional<AttrValue> value;
  int variable = -1;  // index into Pattern::attributes
};

struct PatternNode {
  const OpDef* op = nullptr;  // null for `%y = %x`, which occurs in replacements only
  std::vector<PatternOperand> inputs;
  std::vector<int> outputs;  // index into Pattern::values; -1 if the output is unnamed
  std::vector<PatternAttr> attrs;
  int all_attrs = -1;  // index into Pattern::attr_sets
  bool commutative = false;
  bool shared = false;
};

struct Pattern {
  std::vector<PatternNode> nodes;                          // producers before readers; the root is last
  std::vector<std::string> values, attributes, attr_sets;  // names of variables

  const PatternNode& root() const { return nodes.back(); }
};

// Fails if the text has a syntax error. The error names the position.
Result<Pattern> ParsePattern(std::string_view text);

// True for Binary kinds whose operands may be swapped.
bool CommutativeKind(std::string_view kind);

}  // namespace tern
