// Evaluates calls in TorchScript's code: functions, methods, classes and special forms.
#include "import/torch/script/builtins.h"
#include "import/torch/script/dotted.h"
#include "import/torch/script/interpreter.h"

namespace tern::torch::script {
namespace {

struct NameRow {
  std::string_view name, op;
};

constexpr NameRow kFunctions[] = {
    {"int", "aten::Int"},       {"float", "aten::Float"},   {"bool", "aten::Bool"}, {"str", "aten::str"},
    {"len", "aten::len"},       {"sorted", "aten::sorted"}, {"min", "prim::min"},   {"max", "prim::max"},
    {"print", "prim::Print"},   {"abs", "prim::abs"},       {"ord", "aten::ord"},   {"chr", "aten::chr"},
    {"round", "aten::round"},   {"sum", "aten::sum"},       {"list", "aten::list"}, {"range", "prim::range"},
    {"divmod", "aten::divmod"}, {"pow", "aten::pow"},       {"any", "aten::any"},   {"all", "aten::all"},
};

}  // namespace

std::string DottedName(const Expr& expr, const std::map<std::string, Item>& variables) {
  std::string name;
  const Expr* e = &expr;
  for (; e->kind == Expr::Kind::kAttribute; e = e->items[0].get()) name = StrCat(".", e->text, name);
  if (e->kind != Expr::Kind::kName || variables.count(e->text)) return "";
  for (const char* root : {"torch", "ops", "__torch__", "CONSTANTS"})
    if (e->text == root) return root + name;
  return "";
}

std::string OpOf(const std::string& dotted) {
  if (StartsWith(dotted, "torch.")) return StrCat("aten::", dotted.substr(6));
  if (!StartsWith(dotted, "ops.")) return "";
  const size_t dot = dotted.find('.', 4);
  if (dot == std::string::npos) return "";
  return StrCat(dotted.substr(4, dot - 4), "::", dotted.substr(dot + 1));
}

Result<Item> Interpreter::EvalAttribute(const Expr& expr, Frame& frame) {
  const std::string dotted = DottedName(expr, frame.variables);
  if (StartsWith(dotted, "CONSTANTS.c")) {
    int64_t index = -1;
    if (!ParseInt(dotted.substr(11), index) || index < 0 || index >= static_cast<int64_t>(constants.size()))
      return Bad(dotted, " does not exist; the file has ", constants.size(), " constants");
    return constants[static_cast<size_t>(index)];
  }
  if (StartsWith(dotted, "__torch__.")) return ResolveQualified(dotted);
  if (!dotted.empty()) return NotYet("the name '", dotted, "' is unknown");
  TERN_ASSIGN(const Item object, Eval(*expr.items[0], frame));
  return GetAttribute(object, expr.text);
}

// Returns a function, a class, or a member of an enum.
Result<Item> Interpreter::ResolveQualified(const std::string& name) {
  TERN_ASSIGN(const Class* type, code.FindClass(name));
  if (type) {
    Item item = Item::Of(Item::Kind::kType, nullptr);
    item.text = name;
    return item;
  }
  TERN_ASSIGN(const Function* function, code.FindFunction(name));
  if (function) {
    Item item = Item::Of(Item::Kind::kFunction, nullptr);
    item.function = function;
    item.text = name;
    return item;
  }
  const size_t dot = name.rfind('.');
  TERN_ASSIGN(const Class* outer, code.FindClass(name.substr(0, dot)));
  for (size_t i = 0; outer && i < outer->fields.size(); ++i) {
    const Statement& field = *outer->fields[i];
    if (!field.value || !field.target->IsName(name.substr(dot + 1).c_str())) continue;
    Frame constants;
    constants.name = name;
    TERN_ASSIGN(const Item value, Eval(*field.value, constants));
    if (outer->base != "Enum") return value;
    Item member = heap.Make(Item::Kind::kEnum, name.substr(0, dot));
    member.cell->items = {value};
    member.text = name.substr(dot + 1);
    return member;
  }
  return Bad("the file has no '", name, "'");
}

Result<Item> Interpreter::EvalCall(const Expr& expr, Frame& frame) {
  TERN_ASSIGN(const std::optional<Item> special, EvalSpecialForm(expr, frame));
  if (special) return *special;
  const Expr& callee = *expr.items[0];
  const std::string dotted = DottedName(callee, frame.variables);
  const bool method = callee.kind == Expr::Kind::kAttribute && dotted.empty();
  Item self;
  if (method) {
    TERN_ASSIGN(self, Eval(*callee.items[0], frame));
  }
  std::vector<Item> args;
  for (size_t i = 1; i < expr.items.size(); ++i) {
    TERN_ASSIGN(Item item, Eval(*expr.items[i], frame));
    args.push_back(std::move(item));
  }
  KeywordItems keywords;
  for (const auto& [name, value] : expr.keywords) {
    TERN_ASSIGN(Item item, Eval(*value, frame));
    keywords.emplace_back(name, std::move(item));
  }
  if (method && self.Is(Item::Kind::kObject) && !self.cell->attributes.count(callee.text))
    return CallMethod(self, callee.text, std::move(args), std::move(keywords));
  if (method && self.Is(Item::Kind::kObject)) {
    TERN_ASSIGN(const Item function, GetAttribute(self, callee.text));
    return CallItem(function, std::move(args), std::move(keywords));
  }
  if (method) {
    args.insert(args.begin(), self);
    return CallOp({StrCat("aten::", callee.text), std::move(args), std::move(keywords)});
  }
  if (StartsWith(dotted, "__torch__.")) return CallQualified(dotted, std::move(args), std::move(keywords));
  if (!dotted.empty()) return CallOp({OpOf(dotted), std::move(args), std::move(keywords)});
  if (callee.kind == Expr::Kind::kName && !frame.variables.count(callee.text))
    for (const NameRow& row : kFunctions)
      if (callee.text == row.name) return CallOp({std::string(row.op), std::move(args), std::move(keywords)});
  TERN_ASSIGN(const Item function, Eval(callee, frame));
  return CallItem(function, std::move(args), std::move(keywords));
}

Result<Item> Interpreter::CallQualified(const std::string& name, std::vector<Item> args,
                                        KeywordItems keywords) {
  constexpr std::string_view kNew = ".__new__";
  if (EndsWith(name, kNew)) return heap.Make(Item::Kind::kObject, name.substr(0, name.size() - kNew.size()));
  TERN_ASSIGN(const Item callee, ResolveQualified(name));
  return CallItem(callee, std::move(args), std::move(keywords));
}

Result<Item> Interpreter::CallItem(const Item& callee, std::vector<Item> args, KeywordItems keywords) {
  if (callee.Is(Item::Kind::kFunction))
    return CallFunction(*callee.function, callee.text, callee.cell, std::move(args), std::move(keywords));
  if (callee.Is(Item::Kind::kObject))
    return CallMethod(callee, "forward", std::move(args), std::move(keywords));
  if (!callee.Is(Item::Kind::kType)) return Bad(callee.Describe(), " is not a function");
  TERN_ASSIGN(const Class* type, code.FindClass(callee.text));
  if (type->base == "NamedTuple") {
    for (auto& keyword : keywords) args.push_back(std::move(keyword.second));
    if (args.size() != type->fields.size())
      return Bad(callee.text, " has ", type->fields.size(), " fields, got ", args.size());
    return NewTuple(std::move(args), callee.text);
  }
  const Item object = heap.Make(Item::Kind::kObject, callee.text);
  TERN_ASSIGN([[maybe_unused]] const Item none,
              CallMethod(object, "__init__", std::move(args), std::move(keywords)));
  return object;
}

// Evaluates forms that look like calls, but whose arguments are types or names.
Result<std::optional<Item>> Interpreter::EvalSpecialForm(const Expr& expr, Frame& frame) {
  const Expr& callee = *expr.items[0];
  std::string name = callee.text;
  if (callee.kind == Expr::Kind::kAttribute) {
    name = DottedName(callee, frame.variables);
    if (name == "torch.jit.annotate") name = "annotate";
  } else if (callee.kind != Expr::Kind::kName || frame.variables.count(name)) {
    return std::optional<Item>();
  }
  const size_t count = expr.items.size() - 1;
  if (name == "uninitialized" && count == 1)
    return std::optional<Item>(Item::Of(Item::Kind::kUninitialized, nullptr));
  if (name == "torch.device" && count == 1) {
    TERN_ASSIGN(const Item device, Eval(*expr.items[1], frame));
    return std::optional<Item>(device.string() ? Item(Arg::Device(device.arg.text)) : device);
  }
  if ((name == "annotate" || name == "unchecked_cast") && count == 2) {
    TERN_ASSIGN(const Item value, Eval(*expr.items[2], frame));
    if (name == "unchecked_cast") return std::optional<Item>(value);
    TERN_ASSIGN(Item annotated, Annotate(*expr.items[1], value));
    return std::optional<Item>(std::move(annotated));
  }
  if (name == "isinstance" && count == 2) {
    TERN_ASSIGN(const Item value, Eval(*expr.items[1], frame));
    return std::optional<Item>(Item(Arg::Bool(MatchesType(value, *expr.items[2]))));
  }
  if ((name == "getattr" || name == "hasattr") && count >= 2 && expr.items[2]->kind == Expr::Kind::kText) {
    TERN_ASSIGN(const Item object, Eval(*expr.items[1], frame));
    auto value = GetAttribute(object, expr.items[2]->text);
    if (name == "hasattr") return std::optional<Item>(Item(Arg::Bool(value.ok())));
    if (!value.ok()) return value.TakeStatus();
    return std::optional<Item>(std::move(*value));
  }
  if (name == "fork" && count >= 1) {  // runs the function at once
    TERN_ASSIGN(const Item function, Eval(*expr.items[1], frame));
    if (!function.Is(Item::Kind::kFunction)) return Bad("fork needs a function");
    // The function is nested in the function that forks it, and reads its variables.
    Frame forked = frame;
    forked.work = {{&function.function->body, 0, nullptr, 0, 0}};
    TERN_TRY(Run(forked));
    return std::optional<Item>(std::move(forked.result));
  }
  return std::optional<Item>();
}

// annotate(int, x) converts a tensor x with one element to a number. Other annotations return the value.
Result<Item> Interpreter::Annotate(const Expr& type, const Item& value) {
  if (!value.tensor() || type.kind != Expr::Kind::kName) return value;
  if (type.text == "int") return CallOp({"aten::Int", {value}, {}});
  if (type.text == "float") return CallOp({"aten::Float", {value}, {}});
  if (type.text == "bool") return CallOp({"aten::Bool", {value}, {}});
  if (type.text == "number" || type.text == "Scalar") return CallOp({"aten::item", {value}, {}});
  return value;
}

bool Interpreter::MatchesType(const Item& value, const Expr& type) {
  using Kind = Item::Kind;
  if (type.kind == Expr::Kind::kTuple) {
    for (const ExprPtr& t : type.items)
      if (MatchesType(value, *t)) return true;
    return false;
  }
  const Expr& outer = type.kind == Expr::Kind::kSubscript ? *type.items[0] : type;
  const std::string dotted = DottedName(outer, {});
  if (!dotted.empty()) {
    const bool named = value.Is(Kind::kObject) || value.Is(Kind::kTuple) || value.Is(Kind::kEnum);
    return named && value.cell->type == dotted;
  }
  const std::string& name = outer.text;
  if (name == "Tensor") return value.tensor();
  if (name == "NoneType" || outer.kind == Expr::Kind::kNone) return value.none();
  if (name == "Optional") return value.none() || MatchesType(value, *type.items[1]);
  if (name == "Union") return MatchesType(value, *type.items[1]);
  if (name == "List" || name == "list") return value.Is(Kind::kList);
  if (name == "Tuple" || name == "tuple") return value.Is(Kind::kTuple);
  if (name == "Dict" || name == "dict") return value.Is(Kind::kDict);
  if (name == "str") return value.string();
  if (!value.number()) return name == "Any";
  if (name == "int") return value.arg.kind == Arg::Kind::kInt;
  if (name == "float") return value.arg.kind == Arg::Kind::kFloat;
  return name == "bool" ? value.arg.kind == Arg::Kind::kBool : name == "number" || name == "Any";
}

}  // namespace tern::torch::script
