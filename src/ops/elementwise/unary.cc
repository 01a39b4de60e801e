// Unary: y = f(x), for functions without parameters.
#include <cmath>

#include "base/below.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/elementwise/unary_kind.h"

namespace tern {
namespace {

using Kind = UnaryKind;

struct Unary {
  Kind kind = Kind::kAbs;
  template <class V> void Visit(V& v) { v.Enum("kind", kind, UnaryNames(), "the function"); }
};

DTypeSet TypesOf(Kind kind) {
  switch (kind) {
    case Kind::kAbs:
    case Kind::kNeg:
    case Kind::kSign:
    case Kind::kRelu:
      return kNumbers;
    case Kind::kNot:
      return kBools;
    case Kind::kBitwiseNot:
      return kInts;
    default:
      return kFloats;
  }
}

// Applies the function to symbolic elements. Returns nullopt if the function has no symbolic form.
std::optional<Content> ContentOf(Kind kind, const Content& x) {
  switch (kind) {
    case Kind::kCeil:
    case Kind::kFloor:
    case Kind::kRound:
      return x;
    case Kind::kNeg: {
      Content y;
      for (const Dim& d : x) y.push_back(Dim(0) - d);
      return y;
    }
    default:
      return std::nullopt;
  }
}

Status Infer(const Unary& op, InferContext& c) {
  const DType t = c.TypeOf("x");
  if (t != DType::kInvalid && !(SetOf(t) & TypesOf(op.kind)))
    return InvalidModel("input 'x' must be ", Describe(TypesOf(op.kind)), ", got ", c.In("x").ToString());
  c.Out("y", op.kind == Kind::kIsNan ? DType::kBool : t, c.ShapeOf("x"));
  if (auto x = c.ContentOf("x"))
    if (auto y = ContentOf(op.kind, *x)) c.OutContent("y", std::move(*y));
  return {};
}

double Softplus(double x) { return std::log1p(std::exp(-std::fabs(x))) + (x < 0 ? 0 : x); }

double HardSwish(double x) {
  const double gate = x / 6 + 0.5;
  return x * (gate < 0 ? 0 : gate > 1 ? 1 : gate);
}

// Computes the function of an integer. Results wrap when they are stored.
int64_t ApplyLong(Kind kind, int64_t x, bool is_signed) {
  const int64_t minus = static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(x));
  switch (kind) {
    case Kind::kAbs:
      return is_signed && x < 0 ? minus : x;
    case Kind::kNeg:
      return minus;
    case Kind::kSign:
      return x == 0 ? 0 : is_signed && x < 0 ? -1 : 1;
    case Kind::kRelu:
      return is_signed && x < 0 ? 0 : x;
    case Kind::kNot:
      return !x;
    default:
      return ~x;
  }
}

Status Reference(const Unary& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  Tensor& y = c.Out("y", x.dims());
  if (IsFloat(x.dtype())) {
    for (int64_t i = 0; i < x.size(); ++i) StoreDouble(y, i, UnaryValue(op.kind, LoadDouble(x, i)));
  } else {
    const bool is_signed = IsSignedInt(x.dtype());
    for (int64_t i = 0; i < x.size(); ++i) StoreLong(y, i, ApplyLong(op.kind, LoadLong(x, i), is_signed));
  }
  return {};
}

}  // namespace

const std::vector<const char*>& UnaryNames() {
  static const auto* names = new std::vector<const char*>(std::begin(kUnaryNames), std::end(kUnaryNames));
  return *names;
}

double UnaryValue(UnaryKind kind, double x) {
  switch (kind) {
    case Kind::kAbs:
      return std::fabs(x);
    case Kind::kNeg:
      return -x;
    case Kind::kSign:
      return x > 0 ? 1 : x < 0 ? -1 : x;  // NaN is unchanged
    case Kind::kCeil:
      return std::ceil(x);
    case Kind::kFloor:
      return std::floor(x);
    case Kind::kRound:
      return std::nearbyint(x);  // ties to even
    case Kind::kSqrt:
      return std::sqrt(x);
    case Kind::kReciprocal:
      return 1 / x;
    case Kind::kExp:
      return std::exp(x);
    case Kind::kLog:
      return std::log(x);
    case Kind::kSin:
      return std::sin(x);
    case Kind::kCos:
      return std::cos(x);
    case Kind::kTan:
      return std::tan(x);
    case Kind::kAsin:
      return std::asin(x);
    case Kind::kAcos:
      return std::acos(x);
    case Kind::kAtan:
      return std::atan(x);
    case Kind::kSinh:
      return std::sinh(x);
    case Kind::kCosh:
      return std::cosh(x);
    case Kind::kTanh:
      return std::tanh(x);
    case Kind::kAsinh:
      return std::asinh(x);
    case Kind::kAcosh:
      return std::acosh(x);
    case Kind::kAtanh:
      return std::atanh(x);
    case Kind::kErf:
      return std::erf(x);
    case Kind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Kind::kRelu:
      return Below(x, 0.0) ? 0 : x;
    case Kind::kSoftplus:
      return Softplus(x);
    case Kind::kSoftsign:
      return x / (1 + std::fabs(x));
    case Kind::kHardSwish:
      return HardSwish(x);
    case Kind::kMish:
      return x * std::tanh(Softplus(x));
    default:
      return std::isnan(x);
  }
}

TERN_OP(Unary) {
  return OpDef::Of<Unary>("y = kind(x)")
      .In("x", kNumbers | kBools)
      .Out("y", kNumbers | kBools)
      .Traits(kPure | kElementwise | kInPlace)
      .KindsAreNames()
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
