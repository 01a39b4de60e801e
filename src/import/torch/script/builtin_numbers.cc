// Arithmetic and comparisons of numbers.
#include <cmath>

#include "import/torch/aten/scalar.h"
#include "import/torch/script/builtins.h"

namespace tern::torch::script {
namespace {

struct NumberFunction {
  std::string_view op, kind;
};

constexpr NumberFunction kOfTwo[] = {
    {"aten::add", "add"},
    {"aten::sub", "sub"},
    {"aten::mul", "mul"},
    {"aten::div", "truediv"},
    {"aten::floordiv", "floordiv"},
    {"aten::floor_divide", "floordiv"},
    {"aten::remainder", "mod"},
    {"aten::eq", "eq"},
    {"aten::ne", "ne"},
    {"aten::lt", "lt"},
    {"aten::le", "le"},
    {"aten::gt", "gt"},
    {"aten::ge", "ge"},
    {"aten::__and__", "and"},
    {"aten::__or__", "or"},
    {"aten::__xor__", "xor"},
    {"prim::min", "min"},
    {"prim::max", "max"},
};
constexpr NumberFunction kOfOne[] = {
    {"aten::neg", "neg"},   {"aten::__not__", "not"}, {"prim::abs", "abs"},        {"aten::floor", "floor"},
    {"aten::ceil", "ceil"}, {"aten::Int", "to_int"},  {"aten::Float", "to_float"}, {"aten::Bool", "to_bool"},
    {"aten::abs", "abs"},   {"aten::trunc", "trunc"},
};

bool Numbers(const CallSite& call, size_t count) {
  if (call.args.size() != count || !call.keywords.empty()) return false;
  for (const Item& item : call.args)
    if (!item.number()) return false;
  return true;
}

std::string_view KindOf(const std::string& op, bool two) {
  if (two) {
    for (const NumberFunction& row : kOfTwo)
      if (row.op == op) return row.kind;
  } else {
    for (const NumberFunction& row : kOfOne)
      if (row.op == op) return row.kind;
  }
  return "";
}

Outcome Computed(Interpreter& in, std::string_view kind, const std::vector<Arg>& args,
                 const std::string& op) {
  auto result = ScalarOp(in.context, kind, args, in.PlaceOf(op));
  if (!result.ok()) {
    Status status = result.TakeStatus();
    return Status(status.code(), StrCat(in.Where(), ": ", status.message()));
  }
  return Done(Item(std::move(*result)));
}

// Returns an int as an expression of the sizes of the inputs. Returns an unknown dim if the int is not such
// an expression.
Dim DimOf(const Arg& number) {
  if (number.kind != Arg::Kind::kInt) return {};
  if (number.known()) return Dim(number.integer);
  return number.value->content && number.value->content->size() == 1 ? number.value->content->front() : Dim();
}

// Compares sizes whose difference is known, such as N+1 and N.
std::optional<bool> CompareSizes(std::string_view kind, const Arg& a, const Arg& b) {
  const Dim difference = DimOf(a) - DimOf(b);
  if (!difference.known()) return {};
  const int64_t d = difference.value();
  if (kind == "eq") return d == 0;
  if (kind == "ne") return d != 0;
  if (kind == "lt") return d < 0;
  if (kind == "le") return d <= 0;
  if (kind == "gt") return d > 0;
  if (kind == "ge") return d >= 0;
  return {};
}

// `and` with False and `or` with True are known, whatever the other operand is.
std::optional<bool> KnownLogic(std::string_view kind, const Arg& a, const Arg& b) {
  for (const Arg* x : {&a, &b})
    if (x->kind == Arg::Kind::kBool && x->known()) {
      if (kind == "and" && !x->integer) return false;
      if (kind == "or" && x->integer) return true;
    }
  return {};
}

Outcome Two(Interpreter& in, const CallSite& call) {
  if (!Numbers(call, 2)) return NotMine();
  const Arg &x = call.args[0].arg, &y = call.args[1].arg;
  const std::string_view name = KindOf(call.op, true);
  if (!x.known() || !y.known()) {
    if (const auto known = CompareSizes(name, x, y)) return Done(Item(Arg::Bool(*known)));
    if (const auto known = KnownLogic(name, x, y)) return Done(Item(Arg::Bool(*known)));
    // True and x is x; False or x is x.
    if (name == "and" || name == "or")
      for (const auto& [known, other] : {std::pair(&x, &y), std::pair(&y, &x)})
        if (known->kind == Arg::Kind::kBool && known->known() && other->kind == Arg::Kind::kBool)
          return Done(Item(*other));
  }
  return Computed(in, KindOf(call.op, true), {call.args[0].arg, call.args[1].arg}, call.op);
}

Outcome OneNumber(Interpreter& in, const CallSite& call) {
  if (!Numbers(call, 1)) return NotMine();
  return Computed(in, KindOf(call.op, false), {call.args[0].arg}, call.op);
}

// In Python, the power of ints is an int. TorchScript returns a float, and so does this function.
Outcome Power(Interpreter& in, const CallSite& call) {
  if (!Numbers(call, 2)) return NotMine();
  Arg base = call.args[0].arg;
  if (base.known()) base = Arg::Float(base.AsDouble());
  return Computed(in, "pow", {base, call.args[1].arg}, call.op);
}

// The smallest or largest item of a list of numbers.
Outcome Extreme(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 1 || !call.args[0].Is(Item::Kind::kList) || call.args[0].cell->items.empty())
    return NotMine();
  const std::string_view kind = KindOf(call.op, true);
  const std::vector<Item>& items = call.args[0].cell->items;
  Item best = items[0];
  for (size_t i = 1; i < items.size(); ++i) {
    if (!best.number() || !items[i].number()) return NotMine();
    // In the code of zip() and enumerate(), INT64_MAX stands for an unlimited length. Any other item is less.
    if (kind == "min" && best.known_int() && best.arg.integer == INT64_MAX) {
      best = items[i];
      continue;
    }
    TERN_ASSIGN(best, in.CallOp({call.op, {best, items[i]}, {}}));
  }
  return Done(std::move(best));
}

// None, tensors and objects are compared by identity.
Outcome Identity(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 2) return NotMine();
  const Item &a = call.args[0], &b = call.args[1];
  if (a.Is(Item::Kind::kUninitialized) || b.Is(Item::Kind::kUninitialized))
    return in.Bad("an uninitialized variable is read");
  bool same = KnownEqual(a, b);
  if (a.none() || b.none()) same = a.none() && b.none();
  return Done(Item(Arg::Bool(same == (call.op == "aten::__is__"))));
}

Outcome Shift(Interpreter& in, const CallSite& call) {
  if (!Numbers(call, 2) || !call.args[0].known_int() || !call.args[1].known_int()) return NotMine();
  const int64_t by = call.args[1].arg.integer;
  if (by < 0 || by > 62) return in.Bad("a shift by ", by, " bits");
  const int64_t x = call.args[0].arg.integer;
  return Done(Item(Arg::Int(
      call.op == "aten::__lshift__" ? static_cast<int64_t>(static_cast<uint64_t>(x) << by) : x >> by)));
}

Outcome EnumEqual(Interpreter&, const CallSite& call) {
  if (call.args.size() != 2 || !call.args[0].Is(Item::Kind::kEnum) || !call.args[1].Is(Item::Kind::kEnum))
    return NotMine();
  return Done(Item(Arg::Bool(KnownEqual(call.args[0], call.args[1]) == (call.op == "aten::eq"))));
}

// Devices, dtypes and layouts.
Outcome OtherEqual(Interpreter&, const CallSite& call) {
  if (call.args.size() != 2) return NotMine();
  for (const Item& item : call.args)
    if (!item.Is(Item::Kind::kArg) || item.tensor() || item.number() || item.string()) return NotMine();
  const Arg &a = call.args[0].arg, &b = call.args[1].arg;
  const bool same = a.kind == b.kind && a.text == b.text && a.dtype == b.dtype && a.format == b.format;
  return Done(Item(Arg::Bool(same == (call.op == "aten::eq"))));
}

}  // namespace

void AddNumberBuiltins(BuiltinTable& table) {
  for (const NumberFunction& row : kOfTwo) table.Add(row.op, Two);
  for (const NumberFunction& row : kOfOne) table.Add(row.op, OneNumber);
  table.Add("aten::pow", Power);
  for (const char* op : {"prim::min", "prim::max"}) table.Add(op, Extreme);
  for (const char* op : {"aten::__is__", "aten::__isnot__"}) table.Add(op, Identity);
  for (const char* op : {"aten::__lshift__", "aten::__rshift__"}) table.Add(op, Shift);
  for (const char* op : {"aten::eq", "aten::ne"}) {
    table.Add(op, EnumEqual);
    table.Add(op, OtherEqual);
  }
}

}  // namespace tern::torch::script
