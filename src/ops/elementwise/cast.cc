// Cast: converts elements to another type.
#include <cmath>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/elementwise/cast_text.h"

namespace tern {
namespace {

enum class RoundMode { kUp, kDown, kNearest };

struct Cast {
  DType to = DType::kF32;
  bool saturate = true;
  RoundMode round_mode = RoundMode::kUp;
  template <class V> void Visit(V& v) {
    v("to", to, "the type of y");
    v("saturate", saturate, "fp8: values out of range become the largest finite value, not infinity or NaN");
    v.Enum("round_mode", round_mode, {"up", "down", "nearest"},
           "f8e8m0: round away from zero, towards zero, or to nearest");
  }
};

Status Infer(const Cast& op, InferContext& c) {
  if (op.to == DType::kInvalid || IsComplex(op.to)) return InvalidModel("cannot cast to ", DTypeName(op.to));
  c.Out("y", op.to, c.ShapeOf("x"));
  // Content consists of sizes, which are assumed to be exact in numeric types of 32 bits or more.
  const bool keeps = IsNumeric(op.to) && BitWidth(op.to) >= 32;
  if (auto x = c.ContentOf("x"); x && keeps) c.OutContent("y", std::move(*x));
  return {};
}

// Rounds |v| to a power of two from 2^-127 (bits 0) to 2^127 (bits 254), and returns the bits.
uint32_t EncodeE8M0(const Cast& op, double v) {
  constexpr uint32_t kNan = 0xff, kMax = 0xfe;
  if (std::isnan(v)) return kNan;
  const double magnitude = std::fabs(v);
  if (magnitude < 0x1p-127) return op.saturate ? 0 : kNan;
  if (std::isinf(v)) return op.saturate ? kMax : kNan;
  int exponent;
  const double fraction = std::frexp(magnitude, &exponent);  // in [0.5, 1)
  const bool up = (op.round_mode == RoundMode::kUp && fraction > 0.5) ||
                  (op.round_mode == RoundMode::kNearest && fraction >= 0.75);
  const int field = exponent - 1 + 127 + up;
  return field <= 254 ? static_cast<uint32_t>(field) : op.saturate ? kMax : kNan;
}

void StoreSmallFloat(const Cast& op, Tensor& y, int64_t i, double v) {
  const uint32_t bits = op.to == DType::kF8E8M0 ? EncodeE8M0(op, v) : EncodeFloat(op.to, v, op.saturate);
  y.data<uint8_t>()[i] = static_cast<uint8_t>(bits);
}

void CastNumbers(const Cast& op, const Tensor& x, Tensor& y) {
  const bool fp8 = IsFloat(op.to) && BitWidth(op.to) == 8;
  const bool from_float = IsFloat(x.dtype());
  for (int64_t i = 0; i < x.size(); ++i) {
    if (fp8)
      StoreSmallFloat(op, y, i, LoadDouble(x, i));
    else if (from_float)
      StoreDouble(y, i, LoadDouble(x, i));
    else if (op.to == DType::kF32 && x.dtype() == DType::kU64)
      y.data<float>()[i] = static_cast<float>(x.data<uint64_t>()[i]);
    else if (op.to == DType::kF32)
      y.data<float>()[i] = static_cast<float>(LoadLong(x, i));
    else if (IsFloat(op.to))
      StoreDouble(y, i, LoadDouble(x, i));
    else
      StoreLong(y, i, LoadLong(x, i));
  }
}

Status Reference(const Cast& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  if (x.dtype() == op.to) {
    c.SetOut("y", x.Clone());
    return {};
  }
  Tensor& y = c.Out("y", x.dims());
  if (op.to == DType::kString) {
    for (int64_t i = 0; i < x.size(); ++i) y.data<std::string>()[i] = ElementText(x, i);
  } else if (x.dtype() == DType::kString) {
    for (int64_t i = 0; i < x.size(); ++i) TERN_TRY(StoreText(x.data<std::string>()[i], y, i));
  } else {
    CastNumbers(op, x, y);
  }
  return {};
}

}  // namespace

TERN_OP(Cast) {
  constexpr DTypeSet kCastable = kNumbers | kBools | kStrings;
  return OpDef::Of<Cast>("y = x in element type `to`")
      .In("x", kCastable)
      .Out("y", kCastable)
      .Traits(kPure | kElementwise)
      .Half(HalfRule::kAnyType)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
