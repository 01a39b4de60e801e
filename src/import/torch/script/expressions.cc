// Evaluates expressions of TorchScript's code, other than calls.
#include "import/torch/script/interpreter.h"
#include "import/torch/script/nesting.h"

namespace tern::torch::script {
namespace {

struct OperatorRow {
  std::string_view sign, op;
};

constexpr OperatorRow kBinary[] = {
    {"+", "aten::add"},         {"-", "aten::sub"},         {"*", "aten::mul"},
    {"/", "aten::div"},         {"//", "aten::floordiv"},   {"%", "aten::remainder"},
    {"@", "aten::matmul"},      {"<", "aten::lt"},          {">", "aten::gt"},
    {"<=", "aten::le"},         {">=", "aten::ge"},         {"==", "aten::eq"},
    {"!=", "aten::ne"},         {"is", "aten::__is__"},     {"is not", "aten::__isnot__"},
    {"&", "aten::__and__"},     {"|", "aten::__or__"},      {"^", "aten::__xor__"},
    {"<<", "aten::__lshift__"}, {">>", "aten::__rshift__"},
};

}  // namespace

Result<Item> Interpreter::Eval(const Expr& expr, Frame& frame) {
  const Nesting nesting(depth_);
  if (!nesting.ok()) return Bad("functions and blocks are nested too deep");
  switch (expr.kind) {
    case Expr::Kind::kNone:
      return Item();
    case Expr::Kind::kBool:
      return Item(Arg::Bool(expr.number != 0));
    case Expr::Kind::kInt:
      return Item(Arg::Int(expr.number));
    case Expr::Kind::kFloat:
      return Item(Arg::Float(expr.real));
    case Expr::Kind::kText:
      return Item(Arg::String(expr.text));
    case Expr::Kind::kName:
      return EvalName(expr, frame);
    case Expr::Kind::kAttribute:
      return EvalAttribute(expr, frame);
    case Expr::Kind::kSubscript:
      return EvalSubscript(expr, frame);
    case Expr::Kind::kCall:
      return EvalCall(expr, frame);
    case Expr::Kind::kList:
    case Expr::Kind::kTuple: {
      std::vector<Item> items;
      for (const ExprPtr& e : expr.items) {
        TERN_ASSIGN(Item item, Eval(*e, frame));
        items.push_back(std::move(item));
      }
      return expr.kind == Expr::Kind::kList ? NewList(std::move(items)) : NewTuple(std::move(items));
    }
    case Expr::Kind::kDict:
      return EvalDict(expr, frame);
    case Expr::Kind::kUnary:
    case Expr::Kind::kBinary:
      return EvalOperator(expr, frame);
    case Expr::Kind::kTernary:
      return EvalTernary(expr, frame);
    case Expr::Kind::kSlice:
    case Expr::Kind::kEllipsis:
      break;
  }
  return Bad("an expression has no value");
}

Result<Item> Interpreter::EvalName(const Expr& expr, Frame& frame) {
  const auto found = frame.variables.find(expr.text);
  if (found == frame.variables.end()) return Bad("the variable '", expr.text, "' has no value");
  if (found->second.Is(Item::Kind::kConflict))
    return NotYet("the variable '", expr.text, "' ", found->second.text);
  return found->second;
}

Result<Item> Interpreter::EvalDict(const Expr& expr, Frame& frame) {
  const Item dict = heap.Make(Item::Kind::kDict);
  for (size_t i = 0; i + 1 < expr.items.size(); i += 2) {
    TERN_ASSIGN(const Item key, Eval(*expr.items[i], frame));
    TERN_ASSIGN(const Item value, Eval(*expr.items[i + 1], frame));
    TERN_ASSIGN([[maybe_unused]] const Item unused, CallOp({"aten::_set_item", {dict, key, value}, {}}));
  }
  return dict;
}

Result<Item> Interpreter::EvalOperator(const Expr& expr, Frame& frame) {
  TERN_ASSIGN(const Item left, Eval(*expr.items[0], frame));
  if (expr.kind == Expr::Kind::kUnary) {
    const char* op = expr.text == "not" ? "aten::__not__"
                     : expr.text == "-" ? "aten::neg"
                                        : "aten::bitwise_not";
    return CallOp({op, {left}, {}});
  }
  if (expr.text == "and" || expr.text == "or") {
    TERN_ASSIGN(const Arg condition, ToBool(left));
    if (condition.known() && (condition.integer != 0) == (expr.text == "or")) return left;
    TERN_ASSIGN(const Item right, Eval(*expr.items[1], frame));
    return CallOp({expr.text == "and" ? "aten::__and__" : "aten::__or__", {left, right}, {}});
  }
  TERN_ASSIGN(const Item right, Eval(*expr.items[1], frame));
  if (expr.text == "in" || expr.text == "not in") {
    TERN_ASSIGN(Item found, CallOp({"aten::__contains__", {right, left}, {}}));
    if (expr.text == "in") return found;
    return CallOp({"aten::__not__", {found}, {}});
  }
  for (const OperatorRow& row : kBinary)
    if (row.sign == expr.text) return CallOp({std::string(row.op), {left, right}, {}});
  return Bad("the operator '", expr.text, "' is unknown");
}

Result<Item> Interpreter::EvalTernary(const Expr& expr, Frame& frame) {
  TERN_ASSIGN(const Item value, Eval(*expr.items[0], frame));
  TERN_ASSIGN(const Arg condition, ToBool(value));
  if (condition.value) return NotYet("a conditional expression depends on a tensor");
  return Eval(*expr.items[condition.integer ? 1 : 2], frame);
}

Result<Item> Interpreter::EvalSubscript(const Expr& expr, Frame& frame) {
  TERN_ASSIGN(const Item container, Eval(*expr.items[0], frame));
  const Expr& index = *expr.items[1];
  if (index.kind != Expr::Kind::kSlice) {
    TERN_ASSIGN(const Item at, Eval(index, frame));
    return CallOp({"aten::__getitem__", {container, at}, {}});
  }
  std::vector<Item> args = {container};
  for (const ExprPtr& part : index.items) {
    args.emplace_back();
    if (part) {
      TERN_ASSIGN(args.back(), Eval(*part, frame));
    }
  }
  if (container.tensor()) args.insert(args.begin() + 1, Item(Arg::Int(0)));
  if (args.back().none()) args.back() = Item(Arg::Int(1));
  return CallOp({"aten::slice", std::move(args), {}});
}

Result<Item> Interpreter::GetAttribute(const Item& object, const std::string& name) {
  if (object.Is(Item::Kind::kEnum)) {
    if (name == "value") return object.cell->items[0];
    if (name == "name") return Item(Arg::String(object.text));
  }
  if (object.Is(Item::Kind::kTuple) && !object.cell->type.empty()) {
    TERN_ASSIGN(const Class* type, code.FindClass(object.cell->type));
    for (size_t i = 0; type && i < type->fields.size() && i < object.cell->items.size(); ++i)
      if (type->fields[i]->target->IsName(name.c_str())) return object.cell->items[i];
  }
  if (!object.Is(Item::Kind::kObject)) {
    if (object.tensor()) return CallOp({StrCat("prim::", name), {object}, {}});
    return Bad(object.Describe(), " has no attribute '", name, "'");
  }
  const auto found = object.cell->attributes.find(name);
  if (found != object.cell->attributes.end()) {
    if (found->second.Is(Item::Kind::kConflict))
      return NotYet("the attribute '", name, "' ", found->second.text);
    return found->second;
  }
  TERN_ASSIGN(const Class* type, code.FindClass(object.cell->type));
  if (!type) return Bad("the class ", object.cell->type, " is missing in the file");
  for (const auto& field : type->fields)
    if (field->value && field->target->IsName(name.c_str())) {
      Frame constants;
      constants.name = object.cell->type;
      constants.line = field->line;
      return Eval(*field->value, constants);
    }
  if (const Function* method = Code::MethodOf(*type, name)) {
    Item bound = Item::Of(Item::Kind::kFunction, object.cell);
    bound.function = method;
    bound.text = StrCat(object.cell->type, ".", name);
    return bound;
  }
  return Bad("an object of ", object.cell->type, " has no attribute '", name, "'");
}

}  // namespace tern::torch::script
