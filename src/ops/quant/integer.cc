#include "ops/quant/integer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/quant/evaluate_part.h"
#include "ops/support/channels_last.h"

namespace tern {
namespace {

bool IsByte(DType t) { return t == DType::kI8 || t == DType::kU8; }

float FloatAt(const EvalContext& c, int i, int64_t at = 0) {
  return static_cast<float>(LoadDouble(c.In(i), c.In(i).size() == 1 ? 0 : at));
}
int32_t ZeroAt(const EvalContext& c, int i) {
  return c.Has(i) ? static_cast<int32_t>(LoadLong(c.In(i), 0)) : 0;
}

double Rounded(float v, const IntegerBounds& bounds, int32_t zero) {
  if (std::isnan(v)) v = 0;
  return std::nearbyint(std::min(std::max(v, bounds.low), bounds.high)) + zero;
}

// Returns an operand minus its zero point, as f64.
Result<Tensor> Centred(const QuantizedForm& form, const Attrs& attrs, const EvalContext& c, int operand) {
  const int at = 3 * operand;
  const Tensor ones = Tensor::Of(DType::kF32, c.In(at + 1).dims(),
                                 std::vector<double>(static_cast<size_t>(c.In(at + 1).size()), 1));
  return EvaluatePart(*FindOp("Dequantize"),
                      DequantizeAttrs(ScaleAxis(form, attrs, operand).value_or(0), DType::kF64),
                      {c.In(at), ones, c.Has(at + 2) ? c.In(at + 2) : Tensor()});
}

// Evaluates the op form.real in f64, without residual and activation. Its inputs are the operands minus
// their zero points, and the i32 bias. All of them are integers.
Result<Tensor> Sums(const QuantizedForm& form, const Attrs& attrs, const EvalContext& c) {
  std::vector<Tensor> operands;
  for (int i = 0; i < form.operands; ++i) {
    TERN_ASSIGN(Tensor x, Centred(form, attrs, c, i));
    operands.push_back(std::move(x));
  }
  if (form.has_epilogue && c.Has(form.bias()) && c.In(form.bias()).dtype() == DType::kI32)
    operands.push_back(Tensor::Of(DType::kF64, c.In(form.bias()).dims(), ToDoubles(c.In(form.bias()))));
  return EvaluatePart(*FindOp(form.real), WithoutActivation(RealAttrs(form, attrs)), operands);
}

Result<std::vector<double>> BroadcastValues(const Tensor& x, const Dims& dims) {
  const OpDef& expand = *FindOp("Expand");
  TERN_ASSIGN(const Tensor y, EvaluatePart(expand, expand.defaults, {x, Tensor::Ints(dims)}));
  return ToDoubles(y);
}

// The sums of QConv or QMatMul, and the residual broadcast to their shape.
struct ProductSums {
  Dims dims;
  std::vector<double> sums, residual;  // residual is empty if there is none
  int64_t channels = 1, inner = 1;     // the sums are [outer, channels, inner]

  int64_t Channel(size_t i) const { return static_cast<int64_t>(i) / inner % channels; }
};

Result<ProductSums> SumsOf(const QuantizedForm& form, const Attrs& attrs, const EvalContext& c) {
  TERN_ASSIGN(const Tensor sums, Sums(form, attrs, c));
  ProductSums p{sums.dims(), ToDoubles(sums), {}};
  const bool channels_second = attrs.Has("channels_last") && !attrs.Bool("channels_last");
  for (int i = 2; channels_second && i < sums.rank(); ++i) p.inner *= sums.dim(i);
  if (sums.rank() > 0) p.channels = sums.dim(channels_second ? 1 : -1);
  if (c.Has(form.residual())) {
    TERN_ASSIGN(p.residual, BroadcastValues(c.In(form.residual()), p.dims));
  }
  return p;
}

double SumOf(const SumRatios& r, double a, double b, const IntegerBounds& bounds, int32_t zero) {
  const float v = std::fma(static_cast<float>(a), r.a, std::fma(static_cast<float>(b), r.b, r.rest));
  return std::isnan(v) ? zero : std::nearbyint(std::min(std::max(v, bounds.low), bounds.high));
}

// Evaluates a product that is rounded before the residual is added.
Status EvaluateInner(const QuantizedForm& form, const Attrs& attrs, EvalContext& c) {
  TERN_ASSIGN(const ProductSums p, SumsOf(form, attrs, c));
  const int at = form.result(), residual = form.residual(), inner = form.inner();
  const float y_scale = FloatAt(c, at), inner_scale = FloatAt(c, inner), r_scale = FloatAt(c, residual + 1);
  const int32_t zero = ZeroAt(c, at + 1), inner_zero = ZeroAt(c, inner + 1), r_zero = ZeroAt(c, residual + 2);
  const bool first = attrs.Bool("residual_first");
  const SumRatios ratios = first ? RatiosOf(r_scale, r_zero, inner_scale, inner_zero, y_scale, zero)
                                 : RatiosOf(inner_scale, inner_zero, r_scale, r_zero, y_scale, zero);
  const IntegerBounds inner_bounds =
                          BoundsOf(c.In(inner + 1).dtype(), inner_zero, inner_scale, ActivationOf(attrs)),
                      bounds = BoundsOf(c.OutType(0), 0, 1);
  std::vector<double> y(p.sums.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const float v = static_cast<float>(p.sums[i]) *
                    ProductMultiplier(FloatAt(c, 1), FloatAt(c, 4, p.Channel(i)), inner_scale);
    const double q = Rounded(v, inner_bounds, inner_zero), r = p.residual[i];
    y[i] = SumOf(ratios, first ? r : q, first ? q : r, bounds, zero);
  }
  c.Out("y", p.dims, y);
  return {};
}

Status EvaluateProduct(const QuantizedForm& form, const Attrs& attrs, EvalContext& c) {
  if (c.Has(form.inner())) return EvaluateInner(form, attrs, c);
  TERN_ASSIGN(const ProductSums p, SumsOf(form, attrs, c));
  const int at = form.result(), residual = form.residual();
  const float y_scale = FloatAt(c, at);
  const int32_t zero = ZeroAt(c, at + 1), residual_zero = ZeroAt(c, residual + 2);
  const float ratio = p.residual.empty() ? 0 : FloatAt(c, residual + 1) / y_scale;
  const IntegerBounds bounds = BoundsOf(c.OutType(0), zero, y_scale, ActivationOf(attrs));
  std::vector<double> y(p.sums.size());
  for (size_t i = 0; i < y.size(); ++i) {
    float v = static_cast<float>(p.sums[i]) *
              ProductMultiplier(FloatAt(c, 1), FloatAt(c, 4, p.Channel(i)), y_scale);
    if (!p.residual.empty()) {
      const float term = static_cast<float>(p.residual[i] - residual_zero) * ratio;
      v = v + term;
    }
    y[i] = Rounded(v, bounds, zero);
  }
  c.Out("y", p.dims, y);
  return {};
}

Status EvaluateRealProduct(const QuantizedForm& form, const Attrs& attrs, EvalContext& c) {
  TERN_ASSIGN(const ProductSums p, SumsOf(form, attrs, c));
  const bool biased = c.Has(form.bias()) && c.In(form.bias()).dtype() == DType::kF32;
  const RealBounds bounds = RealBoundsOf(attrs);
  std::vector<double> y(p.sums.size());
  for (size_t i = 0; i < y.size(); ++i) {
    float v = static_cast<float>(p.sums[i]) * (FloatAt(c, 1) * FloatAt(c, 4, p.Channel(i)));
    if (biased) v = v + static_cast<float>(LoadDouble(c.In(form.bias()), p.Channel(i)));
    if (!p.residual.empty()) v = v + static_cast<float>(p.residual[i]);
    y[i] = bounds(v);
  }
  c.Out("y", p.dims, y);
  return {};
}

Status EvaluateMean(const QuantizedForm& form, const Attrs& attrs, EvalContext& c) {
  TERN_ASSIGN(const Tensor x, Centred(form, attrs, c, 0));
  const float y_scale = FloatAt(c, 3);
  const int32_t zero = ZeroAt(c, 4);
  const ChannelOrder order{attrs.Bool("channels_last")};
  const Dims first = order.ToChannelsFirst(x.dims());
  Dims dims = first;
  int64_t count = 1;
  for (size_t i = 2; i < dims.size(); ++i) count *= dims[i], dims[i] = 1;
  const auto all = order.ValuesToChannelsFirst(ToDoubles(x), first);
  std::vector<double> y(static_cast<size_t>(CountOf(dims)), 0);
  for (size_t i = 0; i < all.size(); ++i) y[i / static_cast<size_t>(count)] += all[i];
  const IntegerBounds bounds = BoundsOf(c.OutType(0), zero, y_scale);
  for (double& v : y)
    v = Rounded(static_cast<float>(v) * MeanMultiplier(FloatAt(c, 1), y_scale, count), bounds, zero);
  c.Out("y", order.ToOwnLayout(dims), y);
  return {};
}

Status EvaluateBinary(const QuantizedForm& form, const Attrs& attrs, EvalContext& c) {
  TERN_ASSIGN(const Tensor shaped, Sums(form, attrs, c));
  TERN_ASSIGN(const auto a, BroadcastValues(c.In(0), shaped.dims()));
  TERN_ASSIGN(const auto b, BroadcastValues(c.In(3), shaped.dims()));
  const bool sum = attrs.Text("kind") == "add";
  const int32_t a_zero = ZeroAt(c, 2), b_zero = ZeroAt(c, 5), zero = ZeroAt(c, 7);
  const SumRatios r = RatiosOf(FloatAt(c, 1), a_zero, FloatAt(c, 4), b_zero, FloatAt(c, 6), zero);
  const float multiplier = ProductMultiplier(FloatAt(c, 1), FloatAt(c, 4), FloatAt(c, 6));
  const IntegerBounds bounds = BoundsOf(c.OutType(0), 0, 1);
  std::vector<double> y(a.size());
  for (size_t i = 0; i < y.size(); ++i) {
    if (sum) {
      y[i] = SumOf(r, a[i], b[i], bounds, zero);
      continue;
    }
    const float v =
        static_cast<float>((a[i] - a_zero) * (b[i] - b_zero)) * multiplier + static_cast<float>(zero);
    y[i] = std::isnan(v) ? zero : std::nearbyint(std::min(std::max(v, bounds.low), bounds.high));
  }
  c.Out("y", shaped.dims(), y);
  return {};
}

}  // namespace

bool OnIntegers(const QuantizedForm& form, DType first, DType second, DType result) {
  const std::string_view real = form.real;
  if (real != "Conv" && real != "MatMul" && real != "Binary" && real != "GlobalPool") return false;
  const bool to_f32 = form.has_epilogue && result == DType::kF32;
  return IsByte(first) && (IsByte(result) || to_f32) && (form.operands == 1 || IsByte(second));
}

IntegerBounds BoundsOf(DType type, int32_t zero, float scale, const BoundsAttrs& activation) {
  IntegerBounds bounds = type == DType::kI8 ? IntegerBounds{-128, 127} : IntegerBounds{0, 255};
  bounds.low -= static_cast<float>(zero), bounds.high -= static_cast<float>(zero);
  if (activation.activation == BoundsAttrs::Kind::kNone) return bounds;
  const bool clip = activation.activation == BoundsAttrs::Kind::kClip;
  float low = std::nearbyint((clip ? activation.act_alpha : 0.0f) / scale);
  float high = std::nearbyint((clip ? activation.act_beta : INFINITY) / scale);
  if (scale < 0) std::swap(low, high);  // the largest number has the smallest quantized result
  // A bound outside the range of the type becomes the nearest number in the range, because the result
  // saturates after the activation. A bound is NaN if the scale is NaN, or if bound and scale are 0. It then
  // has no effect.
  const auto fit = [&](float v, float nan) {
    return std::isnan(v) ? nan : std::min(std::max(v, bounds.low), bounds.high);
  };
  return {fit(low, bounds.low), fit(high, bounds.high)};
}

BoundsAttrs ActivationOf(const Attrs& attrs) {
  BoundsAttrs a;
  const std::string kind = attrs.Text("activation");
  a.activation = kind == "clip"   ? BoundsAttrs::Kind::kClip
                 : kind == "relu" ? BoundsAttrs::Kind::kRelu
                                  : BoundsAttrs::Kind::kNone;
  a.act_alpha = attrs.Float("act_alpha");
  a.act_beta = attrs.Float("act_beta");
  return a;
}

RealBounds RealBoundsOf(const Attrs& attrs) {
  const BoundsAttrs a = ActivationOf(attrs);
  if (a.activation == BoundsAttrs::Kind::kNone) return {};
  if (a.activation == BoundsAttrs::Kind::kRelu) return {true, 0, INFINITY};
  return {true, a.act_alpha, a.act_beta};
}

SumRatios RatiosOf(float a_scale, int32_t a_zero, float b_scale, int32_t b_zero, float y_scale,
                   int32_t y_zero) {
  const float a = a_scale / y_scale, b = b_scale / y_scale;
  const float b_part = b * static_cast<float>(b_zero);
  return {a, b, static_cast<float>(y_zero) - std::fma(a, static_cast<float>(a_zero), b_part)};
}

Status EvaluateIntegers(const QuantizedForm& form, const Attrs& attrs, EvalContext& c) {
  const std::string_view real = form.real;
  if (real == "GlobalPool") return EvaluateMean(form, attrs, c);
  if (real == "Binary") return EvaluateBinary(form, attrs, c);
  return c.OutType(0) == DType::kF32 ? EvaluateRealProduct(form, attrs, c) : EvaluateProduct(form, attrs, c);
}

}  // namespace tern
