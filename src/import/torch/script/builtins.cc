#include "import/torch/script/builtins.h"

#include "import/torch/aten/scalar.h"
#include "import/torch/script/unsupported.h"

namespace tern::torch::script {
namespace {

constexpr int kMaxItemDepth = 50;
constexpr int64_t kMaxValues = 1 << 21;  // of all lists in one argument

bool HasSequence(const std::vector<Item>& args) {
  for (const Item& item : args)
    if (item.Is(Item::Kind::kList) && item.cell->sequence) return true;
  return false;
}

}  // namespace

const std::vector<Builtin>* BuiltinTable::Find(const std::string& op) const {
  const auto found = table_.find(op);
  return found == table_.end() ? nullptr : &found->second;
}

std::vector<std::string> BuiltinTable::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : table_) names.push_back(entry.first);
  return names;
}

const BuiltinTable& Builtins() {
  static const BuiltinTable* table = [] {
    auto* t = new BuiltinTable();
    AddPrimBuiltins(*t);
    AddTensorBuiltins(*t);
    AddNumberBuiltins(*t);
    AddMathBuiltins(*t);
    AddTextBuiltins(*t);
    AddListBuiltins(*t);
    AddDictBuiltins(*t);
    return t;
  }();
  return *table;
}

bool KnownEqual(const Item& a, const Item& b) {
  if (a.number() && b.number()) return a.arg.known() && b.arg.known() && a.arg.AsDouble() == b.arg.AsDouble();
  if (a.kind != b.kind) return false;
  if (a.Is(Item::Kind::kEnum)) return a.cell->type == b.cell->type && a.text == b.text;
  if (!a.Is(Item::Kind::kArg)) return a.cell && a.cell == b.cell;
  return a.arg.kind == b.arg.kind && a.arg.text == b.arg.text && a.arg.tensor == b.arg.tensor;
}

Result<Item> Interpreter::CallOp(CallSite call) {
  for (const Item& item : call.args)
    if (item.Is(Item::Kind::kConflict)) return NotYet("an argument of ", call.op, " ", item.text);
  TERN_TRY(inputs.BeforeUse(call));
  if (const std::vector<Builtin>* builtins = Builtins().Find(call.op))
    for (const Builtin builtin : *builtins) {
      TERN_ASSIGN(std::optional<Item> result, builtin(*this, call));
      if (result) return std::move(*result);
    }
  if (HasSequence(call.args)) return NotYet(call.op, " of a list whose length depends on the inputs");
  return CallAten(call.op, call.args, call.keywords);
}

// Fails if the operator is not supported, or if it computes something else in the version of the file.
Status Interpreter::CheckOperator(const std::string& op, const std::vector<Item>& args) {
  if (!Supports(op)) {
    // Also searches the modules that have not been called yet, so that the error is complete.
    for (const std::string& name : modules) {
      TERN_ASSIGN(const Class* type, code.FindClass(name));
      const Function* forward = type ? Code::MethodOf(*type, "forward") : nullptr;
      if (forward) called_.emplace(forward, StrCat(name, ".forward"));
    }
    return ListUnsupported(code, called_, op, Where());
  }
  constexpr int64_t kTrueDivision = 4;
  if (version >= kTrueDivision || (op != "aten::div" && op != "aten::div_")) return {};
  for (const Item& item : args)
    if (item.tensor() ? IsFloat(item.arg.tensor->type().dtype)
                      : item.number() && item.arg.kind == Arg::Kind::kFloat)
      return {};
  return NotYet("a division of integers in a file of PyTorch 1.5 or older, which rounds its result");
}

Result<Item> Interpreter::CallAten(const std::string& op, const std::vector<Item>& args,
                                   const KeywordItems& keywords) {
  TERN_TRY(CheckOperator(op, args));
  std::vector<Arg> converted;
  for (const Item& item : args) {
    TERN_ASSIGN(Arg arg, ToArg(item));
    converted.push_back(std::move(arg));
  }
  Keywords named;
  for (const auto& [name, item] : keywords) {
    TERN_ASSIGN(Arg arg, ToArg(item));
    named.emplace_back(name, std::move(arg));
  }
  TERN_ASSIGN(const std::vector<Arg> results, Call(context, op, converted, named, PlaceOf(op)));
  if (results.empty()) return Item();
  if (results.size() == 1) return FromArg(results[0]);
  std::vector<Item> items;
  for (const Arg& arg : results) items.push_back(FromArg(arg));
  return NewTuple(std::move(items));
}

namespace {

// `left` is the number of values that may still be copied. A list that is shared is copied at each place.
Result<Arg> ArgOf(const Interpreter& in, const Item& item, int64_t& left, int depth = 0) {
  if (--left < 0) return in.NotYet("an argument contains more than ", kMaxValues, " values");
  if (item.Is(Item::Kind::kArg)) return item.arg;
  if (item.Is(Item::Kind::kEnum)) return ArgOf(in, item.cell->items[0], left, depth);
  if (item.list_or_tuple() && !item.cell->sequence && depth < kMaxItemDepth) {
    std::vector<Arg> items;
    for (const Item& part : item.cell->items) {
      TERN_ASSIGN(Arg arg, ArgOf(in, part, left, depth + 1));
      items.push_back(std::move(arg));
    }
    return Arg::List(std::move(items));
  }
  if (item.Is(Item::Kind::kConflict)) return in.NotYet("an argument ", item.text);
  return in.Bad(item.Describe(), " cannot be an argument of an operator");
}

}  // namespace

Result<Arg> Interpreter::ToArg(const Item& item) {
  int64_t left = kMaxValues;
  return ArgOf(*this, item, left);
}

Item Interpreter::FromArg(const Arg& arg) {
  if (!arg.list()) return Item(arg);
  std::vector<Item> items;
  for (const Arg& part : arg.items) items.push_back(FromArg(part));
  return NewList(std::move(items));
}

Result<Arg> Interpreter::ToBool(const Item& item) {
  if (item.number()) return ScalarOp(context, "to_bool", {item.arg}, PlaceOf("aten::Bool"));
  if (item.tensor()) {
    TERN_ASSIGN(const Item scalar, CallOp({"aten::Bool", {item}, {}}));
    return scalar.arg;
  }
  if (item.none()) return Arg::Bool(false);
  if (item.string()) return Arg::Bool(!item.arg.text.empty());
  return Bad(item.Describe(), " is not a condition");
}

Result<Value*> Interpreter::ValueOf(const Arg& arg, Builder& b) {
  if (arg.is_tensor()) return context.Read(*arg.tensor, b);
  if (arg.number()) return ScalarValue(b, arg);
  return Bad(arg.Describe(), " is not a tensor");
}

Result<Value*> Interpreter::SequenceOf(const Item& list) {
  if (list.cell->sequence) return list.cell->sequence;
  Builder b = NewBuilder("prim::ListConstruct");
  std::vector<Value*> parts;
  for (const Item& item : list.cell->items) {
    TERN_ASSIGN(Value * part, ValueOf(item.arg, b));
    parts.push_back(part);
  }
  Value* sequence = b.Op("SequenceConstruct", parts);
  TERN_TRY(Status(b.status()));
  return sequence;
}

}  // namespace tern::torch::script
