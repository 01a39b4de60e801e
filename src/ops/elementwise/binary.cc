// Binary: y = f(a, b), with broadcasting.
#include <cmath>

#include "base/below.h"
#include "ir/eval_context.h"
#include "ops/elementwise/binary_kind.h"
#include "ops/elementwise/broadcast.h"

namespace tern {
namespace {

struct Binary {
  BinaryKind kind = BinaryKind::kAdd;
  template <class V> void Visit(V& v) {
    static const auto* names = new std::vector<const char*>(std::begin(kBinaryNames), std::end(kBinaryNames));
    v.Enum(
        "kind", kind, *names,
        "the function; integer division truncates; mod has the sign of the divisor, fmod that of the dividend; "
        "max and min of +0 and -0 may return either zero; the reference evaluator orders -0 below +0");
  }
};

DTypeSet TypesOf(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::kAnd:
    case BinaryKind::kOr:
    case BinaryKind::kXor:
      return kBools;
    case BinaryKind::kBitAnd:
    case BinaryKind::kBitOr:
    case BinaryKind::kBitXor:
    case BinaryKind::kShiftLeft:
    case BinaryKind::kShiftRight:
      return kInts;
    case BinaryKind::kEqual:
      return kNumbers | kBools | kStrings;
    default:
      return kNumbers;
  }
}

Status CheckTypes(BinaryKind kind, const InferContext& c) {
  for (const char* port : {"a", "b"}) {
    const DType t = c.TypeOf(port);
    if (t != DType::kInvalid && !(SetOf(t) & TypesOf(kind)))
      return InvalidModel("input '", port, "' must be ", Describe(TypesOf(kind)), ", got ",
                          c.In(port).ToString());
  }
  const DType a = c.TypeOf("a"), b = c.TypeOf("b");
  if (a != b && a != DType::kInvalid && b != DType::kInvalid && kind != BinaryKind::kPow)
    return InvalidModel("inputs differ in type: a ", c.In("a").ToString(), ", b ", c.In("b").ToString());
  return {};
}

Status Infer(const Binary& op, InferContext& c) {
  TERN_TRY(CheckTypes(op.kind, c));
  TERN_ASSIGN(Shape shape, BroadcastShapes(c.ShapeOf("a"), c.ShapeOf("b")));
  const DType t =
      c.TypeOf("a") != DType::kInvalid || op.kind == BinaryKind::kPow ? c.TypeOf("a") : c.TypeOf("b");
  const bool small = shape.ranked && shape.rank() <= 1;
  c.Out("y", IsComparison(op.kind) ? DType::kBool : t, std::move(shape));
  if (!small) return {};
  const auto a = c.ContentOf("a"), b = c.ContentOf("b");
  if (!a || !b) return {};
  if (auto y = BinaryContent(op.kind, *a, *b, IsInt(t))) c.OutContent("y", std::move(*y));
  return {};
}

double FloorMod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

template <class T> bool Compare(BinaryKind kind, const T& a, const T& b) {
  switch (kind) {
    case BinaryKind::kEqual:
      return a == b;
    case BinaryKind::kLess:
      return a < b;
    case BinaryKind::kLessEqual:
      return a <= b;
    case BinaryKind::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

double Apply(BinaryKind kind, double a, double b) {
  switch (kind) {
    case BinaryKind::kAdd:
      return a + b;
    case BinaryKind::kSub:
      return a - b;
    case BinaryKind::kMul:
      return a * b;
    case BinaryKind::kDiv:
      return a / b;
    case BinaryKind::kPow:
      return std::pow(a, b);
    case BinaryKind::kMod:
      return FloorMod(a, b);
    case BinaryKind::kFmod:
      return std::fmod(a, b);
    case BinaryKind::kMin:
      return std::isnan(a) || Below(a, b) ? a : b;  // NaN propagates
    case BinaryKind::kMax:
      return std::isnan(a) || Below(b, a) ? a : b;
    default:
      return a < 0 ? a * b : a;  // prelu
  }
}

// Computes base^exponent modulo 2^64. With a negative exponent, only 1 and -1 have integer powers; other
// bases give 0.
int64_t Power(int64_t base, int64_t exponent, bool exponent_signed) {
  if (exponent_signed && exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e; e >>= 1, square *= square)
    if (e & 1) result *= square;
  return static_cast<int64_t>(result);
}

// Division by zero gives 0, as in numpy.
int64_t Divide(int64_t a, int64_t b, bool is_signed) {
  if (b == 0) return 0;
  if (!is_signed) return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
  return b == -1 ? static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(a)) : a / b;
}

int64_t Remainder(int64_t a, int64_t b, bool is_signed) {
  if (b == 0 || (is_signed && b == -1)) return 0;
  return is_signed ? a % b : static_cast<int64_t>(static_cast<uint64_t>(a) % static_cast<uint64_t>(b));
}

int64_t ShiftRight(int64_t a, int64_t b, bool is_signed, int bits) {
  const bool shifts_all = b < 0 || b >= bits;
  if (is_signed) return shifts_all ? (a < 0 ? -1 : 0) : a >> b;
  return shifts_all ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) >> b);
}

// Computes kind(a, b) for bools and for integers of any width. A u64 is passed as the int64_t with the same
// bits. Results wrap when they are stored.
struct LongMath {
  BinaryKind kind;
  bool is_signed;
  int bits;

  bool Less(int64_t a, int64_t b) const {
    return is_signed ? a < b : static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
  }

  int64_t operator()(int64_t a, int64_t b) const {
    const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    switch (kind) {
      case BinaryKind::kAdd:
        return static_cast<int64_t>(ua + ub);
      case BinaryKind::kSub:
        return static_cast<int64_t>(ua - ub);
      case BinaryKind::kMul:
        return static_cast<int64_t>(ua * ub);
      case BinaryKind::kDiv:
        return Divide(a, b, is_signed);
      case BinaryKind::kMod: {
        const int64_t r = Remainder(a, b, is_signed);
        return is_signed && r != 0 && (r < 0) != (b < 0) ? r + b : r;
      }
      case BinaryKind::kFmod:
        return Remainder(a, b, is_signed);
      case BinaryKind::kMin:
        return Less(a, b) ? a : b;
      case BinaryKind::kMax:
        return Less(a, b) ? b : a;
      case BinaryKind::kAnd:
      case BinaryKind::kBitAnd:
        return a & b;
      case BinaryKind::kOr:
      case BinaryKind::kBitOr:
        return a | b;
      case BinaryKind::kXor:
      case BinaryKind::kBitXor:
        return a ^ b;
      case BinaryKind::kShiftLeft:
        return b < 0 || b >= bits ? 0 : static_cast<int64_t>(ua << b);
      case BinaryKind::kShiftRight:
        return ShiftRight(a, b, is_signed, bits);
      case BinaryKind::kEqual:
        return a == b;
      case BinaryKind::kLess:
        return Less(a, b);
      case BinaryKind::kLessEqual:
        return !Less(b, a);
      case BinaryKind::kGreater:
        return Less(b, a);
      case BinaryKind::kGreaterEqual:
        return !Less(a, b);
      default:
        return is_signed && a < 0 ? static_cast<int64_t>(ua * ub) : a;  // prelu
    }
  }
};

template <class F> void EachPair(const Tensor& a, const Tensor& b, const Tensor& y, F f) {
  BroadcastWalk at_a(a.dims(), y.dims()), at_b(b.dims(), y.dims());
  for (int64_t i = 0; i < y.size(); ++i) {
    const int64_t j = at_a.Next();
    f(i, j, at_b.Next());
  }
}

void PowReference(const Tensor& a, const Tensor& b, Tensor& y) {
  const bool integers = !IsFloat(a.dtype()) && !IsFloat(b.dtype()), b_signed = IsSignedInt(b.dtype());
  EachPair(a, b, y, [&](int64_t i, int64_t j, int64_t k) {
    if (integers)
      StoreLong(y, i, Power(LoadLong(a, j), LoadLong(b, k), b_signed));
    else
      StoreDouble(y, i, std::pow(LoadDouble(a, j), LoadDouble(b, k)));
  });
}

Status Reference(const Binary& op, EvalContext& c) {
  const Tensor &a = c.In("a"), &b = c.In("b");
  TERN_ASSIGN(const Dims dims, BroadcastDims(a.dims(), b.dims()));
  Tensor& y = c.Out("y", dims);
  if (op.kind == BinaryKind::kPow) {
    PowReference(a, b, y);
  } else if (a.dtype() == DType::kString) {
    const auto *p = a.data<std::string>(), *q = b.data<std::string>();
    EachPair(a, b, y, [&](int64_t i, int64_t j, int64_t k) { StoreLong(y, i, p[j] == q[k]); });
  } else if (!IsFloat(a.dtype())) {
    const LongMath f{op.kind, IsSignedInt(a.dtype()), BitWidth(a.dtype())};
    EachPair(a, b, y,
             [&](int64_t i, int64_t j, int64_t k) { StoreLong(y, i, f(LoadLong(a, j), LoadLong(b, k))); });
  } else if (IsComparison(op.kind)) {
    EachPair(a, b, y, [&](int64_t i, int64_t j, int64_t k) {
      StoreLong(y, i, Compare(op.kind, LoadDouble(a, j), LoadDouble(b, k)));
    });
  } else {
    EachPair(a, b, y, [&](int64_t i, int64_t j, int64_t k) {
      StoreDouble(y, i, Apply(op.kind, LoadDouble(a, j), LoadDouble(b, k)));
    });
  }
  return {};
}

}  // namespace

TERN_OP(Binary) {
  return OpDef::Of<Binary>(
             "y = kind(a, b), with broadcasting; a and b have the same type, but the exponent of pow may have any type")
      .In("a", kNumbers | kBools | kStrings)
      .In("b", kNumbers | kBools | kStrings)
      .Out("y", kNumbers | kBools)
      .Traits(kPure | kElementwise | kInPlace)
      .KindsAreNames()
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
