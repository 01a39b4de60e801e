// Functions of Python's module math. Their arguments must be known at import time, except for a few that the
// graph can compute.
#include <cmath>
#include <numbers>
#include <numeric>

#include "import/torch/aten/scalar.h"
#include "import/torch/script/builtins.h"

namespace tern::torch::script {
namespace {

struct FloatFunction {
  std::string_view op;
  double (*function)(double);
  const char* unary;  // the kind of the op Unary for numbers that the graph computes; null if there is none
};

constexpr FloatFunction kFloatFunctions[] = {
    {"aten::exp", std::exp, "exp"},         {"aten::log", std::log, "log"},
    {"aten::log2", std::log2, nullptr},     {"aten::log10", std::log10, nullptr},
    {"aten::log1p", std::log1p, nullptr},   {"aten::expm1", std::expm1, nullptr},
    {"aten::sqrt", std::sqrt, "sqrt"},      {"aten::sin", std::sin, "sin"},
    {"aten::cos", std::cos, "cos"},         {"aten::tan", std::tan, "tan"},
    {"aten::asin", std::asin, "asin"},      {"aten::acos", std::acos, "acos"},
    {"aten::atan", std::atan, "atan"},      {"aten::sinh", std::sinh, "sinh"},
    {"aten::cosh", std::cosh, "cosh"},      {"aten::tanh", std::tanh, "tanh"},
    {"aten::asinh", std::asinh, nullptr},   {"aten::acosh", std::acosh, nullptr},
    {"aten::atanh", std::atanh, nullptr},   {"aten::erf", std::erf, "erf"},
    {"aten::erfc", std::erfc, nullptr},     {"aten::gamma", std::tgamma, nullptr},
    {"aten::lgamma", std::lgamma, nullptr}, {"aten::fabs", std::fabs, "abs"},
};

Outcome OneFloat(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 1 || !call.args[0].number()) return NotMine();
  const Arg& x = call.args[0].arg;
  for (const FloatFunction& row : kFloatFunctions) {
    if (row.op != call.op) continue;
    if (x.known()) return Done(Item(Arg::Float(row.function(x.AsDouble()))));
    if (!row.unary) return in.NotYet(call.op, " of a number that depends on the inputs");
    Builder b = in.NewBuilder(call.op);
    Value* y = b.Op("Unary", {ScalarValue(b, x, DType::kF32)}, {{"kind", row.unary}});
    TERN_TRY(Status(b.status()));
    return Done(Item(Arg::Computed(y)));
  }
  return NotMine();
}

Outcome Degrees(Interpreter&, const CallSite& call) {
  if (call.args.size() != 1 || !call.args[0].number() || !call.args[0].arg.known()) return NotMine();
  const double x = call.args[0].arg.AsDouble();
  return Done(
      Item(Arg::Float(call.op == "aten::degrees" ? x * 180 / std::numbers::pi : x * std::numbers::pi / 180)));
}

Outcome Test(Interpreter&, const CallSite& call) {
  if (call.args.size() != 1 || !call.args[0].number() || !call.args[0].arg.known()) return NotMine();
  const double x = call.args[0].arg.AsDouble();
  return Done(Item(Arg::Bool(call.op == "aten::isnan"   ? std::isnan(x)
                             : call.op == "aten::isinf" ? std::isinf(x)
                                                        : std::isfinite(x))));
}

Outcome TwoFloats(Interpreter&, const CallSite& call) {
  if (call.args.size() != 2) return NotMine();
  for (const Item& item : call.args)
    if (!item.number() || !item.arg.known()) return NotMine();
  const double x = call.args[0].arg.AsDouble(), y = call.args[1].arg.AsDouble();
  if (call.op == "aten::atan2") return Done(Item(Arg::Float(std::atan2(x, y))));
  if (call.op == "aten::fmod") return Done(Item(Arg::Float(std::fmod(x, y))));
  if (call.op == "aten::hypot") return Done(Item(Arg::Float(std::hypot(x, y))));
  if (call.op == "aten::copysign") return Done(Item(Arg::Float(std::copysign(x, y))));
  if (call.op == "aten::mathremainder") return Done(Item(Arg::Float(std::remainder(x, y))));
  const int64_t a = call.args[0].arg.integer, b = call.args[1].arg.integer;
  if (a == INT64_MIN || b == INT64_MIN) return NotMine();
  return Done(Item(Arg::Int(std::gcd(a, b))));
}

Outcome Factorial(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 1 || !call.args[0].known_int()) return NotMine();
  const int64_t n = call.args[0].arg.integer;
  if (n < 0 || n > 20) return in.Bad("factorial(", n, ") is not an int of 64 bits");
  int64_t product = 1;
  for (int64_t i = 2; i <= n; ++i) product *= i;
  return Done(Item(Arg::Int(product)));
}

// round(x) is an int in Python, and ties go to even. round(x, digits) is a float.
Outcome Round(Interpreter& in, const CallSite& call) {
  if (call.args.empty() || !call.args[0].number()) return NotMine();
  const Arg& x = call.args[0].arg;
  if (!x.known()) return in.NotYet("round of a number that depends on the inputs");
  if (call.args.size() == 1) return Done(Item(Arg::Float(std::nearbyint(x.AsDouble()))));
  if (!call.args[1].known_int()) return NotMine();
  const double scale = std::pow(10.0, static_cast<double>(call.args[1].arg.integer));
  return Done(Item(Arg::Float(std::nearbyint(x.AsDouble() * scale) / scale)));
}

Outcome DivMod(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 2 || !call.args[0].number() || !call.args[1].number()) return NotMine();
  TERN_ASSIGN(const Item quotient, in.CallOp({"aten::floordiv", call.args, {}}));
  TERN_ASSIGN(const Item rest, in.CallOp({"aten::remainder", call.args, {}}));
  return Done(in.NewTuple({quotient, rest}));
}

// The number of items of range(start, end, step).
Outcome RangeLength(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 3 || !call.args[2].known_int()) return NotMine();
  const int64_t step = call.args[2].arg.integer;
  if (step == 0 || step == INT64_MIN) return in.Bad("range() with a step of ", step);
  const Item &from = call.args[step > 0 ? 0 : 1], &to = call.args[step > 0 ? 1 : 0];
  const int64_t size = step > 0 ? step : -step;
  TERN_ASSIGN(Item length, in.CallOp({"aten::sub", {to, from}, {}}));
  TERN_ASSIGN(length, in.CallOp({"aten::add", {length, Item(Arg::Int(size - 1))}, {}}));
  TERN_ASSIGN(length, in.CallOp({"aten::floordiv", {length, Item(Arg::Int(size))}, {}}));
  return Done(in.CallOp({"prim::max", {length, Item(Arg::Int(0))}, {}}));
}

// Item `index` of range(start, end, step).
Outcome RangeItem(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 3) return NotMine();
  TERN_ASSIGN(const Item offset, in.CallOp({"aten::mul", {call.args[0], call.args[2]}, {}}));
  return Done(in.CallOp({"aten::add", {call.args[1], offset}, {}}));
}

}  // namespace

void AddMathBuiltins(BuiltinTable& table) {
  for (const FloatFunction& row : kFloatFunctions) table.Add(row.op, OneFloat);
  for (const char* op : {"aten::degrees", "aten::radians"}) table.Add(op, Degrees);
  for (const char* op : {"aten::isnan", "aten::isinf", "aten::isfinite"}) table.Add(op, Test);
  for (const char* op :
       {"aten::atan2", "aten::fmod", "aten::hypot", "aten::copysign", "aten::mathremainder", "aten::gcd"})
    table.Add(op, TwoFloats);
  table.Add("aten::factorial", Factorial);
  table.Add("aten::round", Round);
  table.Add("aten::divmod", DivMod);
  table.Add("aten::__range_length", RangeLength);
  table.Add("aten::__derive_index", RangeItem);
}

}  // namespace tern::torch::script
