#include "import/torch/aten/scalar.h"

#include <cmath>
#include <limits>

#include "import/torch/aten/emit.h"

namespace tern::torch {
namespace {

using Kind = Arg::Kind;

// Floor division and remainder as in Python. The divisor is not 0.
int64_t FloorDivide(int64_t a, int64_t b) {
  if (b == -1) return static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(a));
  const int64_t q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

int64_t FloorModulo(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

bool IsComparison(std::string_view kind) {
  return kind == "eq" || kind == "ne" || kind == "lt" || kind == "le" || kind == "gt" || kind == "ge";
}

template <class T> Arg Compare(std::string_view kind, T a, T b) {
  return Arg::Bool(kind == "eq"   ? a == b
                   : kind == "ne" ? a != b
                   : kind == "lt" ? a < b
                   : kind == "le" ? a <= b
                   : kind == "gt" ? a > b
                                  : a >= b);
}

Result<Arg> KnownInts(std::string_view kind, int64_t a, int64_t b) {
  int64_t out = 0;
  if (IsComparison(kind)) return Compare(kind, a, b);
  if (kind == "add"   ? __builtin_add_overflow(a, b, &out)
      : kind == "sub" ? __builtin_sub_overflow(a, b, &out)
                      : kind == "mul" && __builtin_mul_overflow(a, b, &out))
    return InvalidModel("the result of ", a, " ", kind, " ", b, " needs more than 64 bits");
  if (kind == "add" || kind == "sub" || kind == "mul") return Arg::Int(out);
  if (kind == "min") return Arg::Int(std::min(a, b));
  if (kind == "max") return Arg::Int(std::max(a, b));
  if (kind == "and") return Arg::Int(a & b);
  if (kind == "or") return Arg::Int(a | b);
  if (kind == "xor") return Arg::Int(a ^ b);
  if (kind == "pow") {
    const double p = std::pow(static_cast<double>(a), static_cast<double>(b));
    if (b < 0) return Arg::Float(p);
    if (std::fabs(p) > 9e15) return InvalidModel(a, " to the power of ", b, " is too large");
    return Arg::Int(static_cast<int64_t>(p));
  }
  if (b == 0) return InvalidModel("division of ", a, " by 0");
  if (kind == "floordiv") return Arg::Int(FloorDivide(a, b));
  if (kind == "mod") return Arg::Int(FloorModulo(a, b));
  if (kind == "truediv") return Arg::Float(static_cast<double>(a) / static_cast<double>(b));
  return Unsupported("the function '", kind, "' of two ints");
}

Result<Arg> KnownFloats(std::string_view kind, double a, double b) {
  if (IsComparison(kind)) return Compare(kind, a, b);
  if (kind == "add") return Arg::Float(a + b);
  if (kind == "sub") return Arg::Float(a - b);
  if (kind == "mul") return Arg::Float(a * b);
  if (kind == "truediv") return Arg::Float(a / b);
  if (kind == "floordiv") return Arg::Float(std::floor(a / b));
  if (kind == "mod") return Arg::Float(a - b * std::floor(a / b));
  if (kind == "pow") return Arg::Float(std::pow(a, b));
  if (kind == "min") return Arg::Float(std::min(a, b));
  if (kind == "max") return Arg::Float(std::max(a, b));
  return Unsupported("the function '", kind, "' of two floats");
}

Result<Arg> KnownOne(std::string_view kind, const Arg& a) {
  const bool real = a.kind == Kind::kFloat;
  if (kind == "not") return Arg::Bool(a.AsDouble() == 0);
  if (kind == "to_bool") return Arg::Bool(a.AsDouble() != 0);
  if (kind == "to_float") return Arg::Float(a.AsDouble());
  if (kind == "sqrt") return Arg::Float(std::sqrt(a.AsDouble()));
  if (kind == "neg") return real ? Arg::Float(-a.real) : KnownInts("sub", 0, a.integer);
  if (kind == "abs")
    return real            ? Arg::Float(std::fabs(a.real))
           : a.integer < 0 ? KnownInts("sub", 0, a.integer)
                           : Arg::Int(a.integer);
  if (!real) return Arg::Int(a.integer);
  const double r = kind == "floor"   ? std::floor(a.real)
                   : kind == "ceil"  ? std::ceil(a.real)
                   : kind == "round" ? std::nearbyint(a.real)
                                     : std::trunc(a.real);
  if (!(std::fabs(r) < 9e18)) return InvalidModel("the float ", a.real, " cannot become an int");
  return Arg::Int(static_cast<int64_t>(r));
}

bool KnownNotNegative(Value* v) {
  if (v->is_constant()) return LoadLong(v->constant, 0) >= 0;
  return v->content && v->content->size() == 1 && v->content->front().NonNegative();
}

Value* FloorDivideValues(Emit& e, Value* x, Value* y) {
  if (KnownNotNegative(x) && KnownNotNegative(y)) return e.Div(x, y);
  return e.Div(e.Sub(x, e.Binary("mod", x, y)), y);
}

Result<Value*> ComputedTwo(Emit& e, std::string_view kind, const Arg& a, const Arg& c) {
  const bool real = a.kind == Kind::kFloat || c.kind == Kind::kFloat || kind == "truediv";
  const bool logical =
      (kind == "and" || kind == "or" || kind == "xor") && a.kind == Kind::kBool && c.kind == Kind::kBool;
  const DType type = logical ? DType::kBool : real ? DType::kF32 : DType::kI64;
  Value *x = ScalarValue(e.b, a, type), *y = ScalarValue(e.b, c, type);
  static const std::pair<std::string_view, const char*> kNames[] = {
      {"add", "add"},    {"sub", "sub"},          {"mul", "mul"},  {"truediv", "div"}, {"pow", "pow"},
      {"min", "min"},    {"max", "max"},          {"eq", "equal"}, {"lt", "less"},     {"le", "less_equal"},
      {"gt", "greater"}, {"ge", "greater_equal"}, {"mod", "mod"}};
  if (kind == "ne") return e.Not(e.Binary("equal", x, y));
  if (kind == "floordiv") return real ? e.Unary("floor", e.Div(x, y)) : FloorDivideValues(e, x, y);
  if (kind == "and" || kind == "or" || kind == "xor")
    return e.Binary(StrCat(logical ? "" : "bit_", kind).c_str(), x, y);
  for (const auto& [name, op] : kNames)
    if (kind == name) return e.Binary(op, x, y);
  return Unsupported("the function '", kind, "' of two numbers");
}

Result<Value*> ComputedOne(Emit& e, std::string_view kind, const Arg& a) {
  if (kind == "not") return e.Not(ScalarValue(e.b, a, DType::kBool));
  if (kind == "to_bool") return ScalarValue(e.b, a, DType::kBool);
  if (kind == "to_float") return ScalarValue(e.b, a, DType::kF32);
  if (kind == "sqrt") return e.Unary("sqrt", ScalarValue(e.b, a, DType::kF32));
  Value* x = ScalarValue(e.b, a, a.kind == Kind::kFloat ? DType::kF32 : DType::kI64);
  if (kind == "neg" || kind == "abs") return e.Unary(std::string(kind).c_str(), x);
  if (a.kind == Kind::kFloat && (kind == "floor" || kind == "ceil" || kind == "round"))
    x = e.Unary(std::string(kind).c_str(), x);
  return e.Cast(x, DType::kI64);  // to_int and trunc: a cast drops the fraction
}

}  // namespace

Result<Arg> ScalarOp(TorchContext& context, std::string_view kind, const std::vector<Arg>& args,
                     const Place& place) {
  bool known = true;
  for (const Arg& a : args) {
    if (!a.number())
      return InvalidModel("node '", place.name, "' (", place.origin, "): expected a number, got ",
                          a.Describe());
    known &= a.known();
  }
  if (args.empty() || args.size() > 2)
    return InvalidModel("node '", place.name, "' (", place.origin, "): ", args.size(), " arguments");
  if (known) {
    if (args.size() == 1) return KnownOne(kind, args[0]);
    if (args[0].kind == Kind::kBool && args[1].kind == Kind::kBool &&
        (kind == "and" || kind == "or" || kind == "xor")) {
      TERN_ASSIGN(Arg bits, KnownInts(kind, args[0].integer, args[1].integer));
      return Arg::Bool(bits.integer != 0);
    }
    if (args[0].kind == Kind::kFloat || args[1].kind == Kind::kFloat)
      return KnownFloats(kind, args[0].AsDouble(), args[1].AsDouble());
    return KnownInts(kind, args[0].integer, args[1].integer);
  }
  Builder b(context.graph());
  b.At(place.name, place.origin);
  Emit e(b);
  auto value = args.size() == 1 ? ComputedOne(e, kind, args[0]) : ComputedTwo(e, kind, args[0], args[1]);
  if (!value.ok()) return value.TakeStatus();
  TERN_TRY(Status(b.status()));
  return Arg::Computed(*value);
}

Value* ScalarValue(Builder& b, const Arg& number, DType dtype) {
  const DType own = number.kind == Kind::kBool    ? DType::kBool
                    : number.kind == Kind::kFloat ? DType::kF32
                                                  : DType::kI64;
  const DType to = dtype == DType::kInvalid ? own : dtype;
  if (number.value) return Emit(b).Cast(number.value, to);
  const bool stores_ints = IsNumeric(to) || to == DType::kBool;  // if not, Scalar reports the type
  if (number.kind == Kind::kFloat || !stores_ints) return b.Scalar(to, number.AsDouble());
  Tensor t(to, {});
  StoreLong(t, 0, number.integer);
  return b.Const(std::move(t));
}

Value* IntVector(Builder& b, const std::vector<Arg>& ints) {
  Emit e(b);
  std::vector<Value*> parts;
  std::vector<int64_t> run;  // known numbers that follow each other become one constant
  const auto flush = [&] {
    if (!run.empty()) parts.push_back(b.Ints(run));
    run.clear();
  };
  for (const Arg& i : ints) {
    if (i.known()) {
      run.push_back(i.integer);
      continue;
    }
    flush();
    parts.push_back(e.Unsqueeze(ScalarValue(b, i, DType::kI64), {0}));
  }
  flush();
  if (parts.empty()) return b.Ints({});
  return e.Concat(parts, 0);
}

Arg SizeOf(Builder& b, Value* x, int64_t dim) {
  const tern::Shape& s = x->type.shape;
  const int64_t rank = s.rank();
  if (s.ranked && dim >= -rank && dim < rank && s[static_cast<int>(dim)].known())
    return Arg::Int(s[static_cast<int>(dim)].value());
  if (dim < 0 && s.ranked) dim += rank;
  Emit e(b);
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  const int64_t end = dim == -1 || dim == kEnd ? kEnd : dim + 1;
  Value* one = b.Op("Shape", {x}, {{"start", dim}, {"end", end}});
  return Arg::Computed(e.Squeeze(one, {0}));
}

}  // namespace tern::torch
