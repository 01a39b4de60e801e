// Unary: y = f(x), for functions without parameters.
#include <cmath>

#include "base/below.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/elementwise/unary_kind.h"

namespace tern {
namespace {

struct Unary {
  UnaryKind kind = UnaryKind::kAbs;
  template <class V> void Visit(V& v) { v.Enum("kind", kind, UnaryNames(), "the function"); }
};

DTypeSet TypesOf(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::kAbs:
    case UnaryKind::kNeg:
    case UnaryKind::kSign:
    case UnaryKind::kRelu:
      return kNumbers;
    case UnaryKind::kNot:
      return kBools;
    case UnaryKind::kBitwiseNot:
      return kInts;
    default:
      return kFloats;
  }
}

// Applies the function to symbolic elements. Returns nullopt if the function has no symbolic form.
std::optional<Content> ContentOf(UnaryKind kind, const Content& x) {
  switch (kind) {
    case UnaryKind::kCeil:
    case UnaryKind::kFloor:
    case UnaryKind::kRound:
      return x;
    case UnaryKind::kNeg: {
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
  c.Out("y", op.kind == UnaryKind::kIsNan ? DType::kBool : t, c.ShapeOf("x"));
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
int64_t ApplyLong(UnaryKind kind, int64_t x, bool is_signed) {
  const int64_t minus = static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(x));
  switch (kind) {
    case UnaryKind::kAbs:
      return is_signed && x < 0 ? minus : x;
    case UnaryKind::kNeg:
      return minus;
    case UnaryKind::kSign:
      return x == 0 ? 0 : is_signed && x < 0 ? -1 : 1;
    case UnaryKind::kRelu:
      return is_signed && x < 0 ? 0 : x;
    case UnaryKind::kNot:
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
    case UnaryKind::kAbs:
      return std::fabs(x);
    case UnaryKind::kNeg:
      return -x;
    case UnaryKind::kSign:
      return x > 0 ? 1 : x < 0 ? -1 : x;  // NaN is unchanged
    case UnaryKind::kCeil:
      return std::ceil(x);
    case UnaryKind::kFloor:
      return std::floor(x);
    case UnaryKind::kRound:
      return std::nearbyint(x);  // ties to even
    case UnaryKind::kSqrt:
      return std::sqrt(x);
    case UnaryKind::kReciprocal:
      return 1 / x;
    case UnaryKind::kExp:
      return std::exp(x);
    case UnaryKind::kLog:
      return std::log(x);
    case UnaryKind::kSin:
      return std::sin(x);
    case UnaryKind::kCos:
      return std::cos(x);
    case UnaryKind::kTan:
      return std::tan(x);
    case UnaryKind::kAsin:
      return std::asin(x);
    case UnaryKind::kAcos:
      return std::acos(x);
    case UnaryKind::kAtan:
      return std::atan(x);
    case UnaryKind::kSinh:
      return std::sinh(x);
    case UnaryKind::kCosh:
      return std::cosh(x);
    case UnaryKind::kTanh:
      return std::tanh(x);
    case UnaryKind::kAsinh:
      return std::asinh(x);
    case UnaryKind::kAcosh:
      return std::acosh(x);
    case UnaryKind::kAtanh:
      return std::atanh(x);
    case UnaryKind::kErf:
      return std::erf(x);
    case UnaryKind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case UnaryKind::kRelu:
      return Below(x, 0.0) ? 0 : x;
    case UnaryKind::kSoftplus:
      return Softplus(x);
    case UnaryKind::kSoftsign:
      return x / (1 + std::fabs(x));
    case UnaryKind::kHardSwish:
      return HardSwish(x);
    case UnaryKind::kMish:
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
