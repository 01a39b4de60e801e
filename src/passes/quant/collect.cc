#include "passes/quant/collect.h"

#include <algorithm>
#include <cmath>

#include "passes/quant/parameters.h"

namespace tern {
namespace {

// The relative tolerance with which the scale of a bias must equal the product of the operands' scales. The
// exporter has rounded the product to f32.
constexpr double kScaleRounding = 1e-6;

bool IsProductOf(const Value* scale, const Value* a, const Value* b) {
  for (const Value* v : {scale, a, b})
    if (!v->is_constant() || v->constant.dtype() != DType::kF32) return false;
  const auto have = ToDoubles(scale->constant), first = ToDoubles(a->constant),
             second = ToDoubles(b->constant);
  if (first.size() != 1 || (have.size() != 1 && second.size() != 1 && have.size() != second.size()))
    return false;
  for (size_t i = 0; i < std::max(have.size(), second.size()); ++i) {
    const double want = first[0] * second[second.size() == 1 ? 0 : i];
    if (!(std::fabs(have[have.size() == 1 ? 0 : i] - want) <= kScaleRounding * std::fabs(want))) return false;
  }
  return true;
}

bool Along(const Node& d, int64_t wanted) {
  const Value* x = d.input(0);
  const auto axis = AxisOf(d.attrs.Int("axis"), x), want = AxisOf(wanted, x);
  return x->type.shape.rank() > 1 && axis && want && *axis == *want && d.input(1)->type.shape.rank() == 1;
}

}  // namespace

bool TakeAttrs(const Node& real, Attrs& attrs) {
  for (const Attrs::Entry& entry : real.attrs.List()) {
    if (!attrs.Has(entry.name) ? !entry.is_default : !attrs.Set(entry.name, entry.value).ok()) return false;
  }
  return true;
}

bool InputCollector::Operands() {
  for (int i = 0; i < form_.operands; ++i) {
    const Node* d = PlainDequantize(real_.input(i));
    if (!d) return No("an operand is not made by Dequantize from 8 or 16 bits to f32");
    const auto axis = ScaleAxis(form_, real_.attrs, i);
    if (!OneScale(*d) && !(axis && Along(*d, *axis)))
      return No("the scales of an operand are along an axis that the quantized op does not support");
    inputs_.insert(inputs_.end(), {d->input(0), d->input(1), d->input(2)});
  }
  return true;
}

void InputCollector::Result(Rewrite& r) {
  const Node& q = r.root();
  const DType to = q.output(0)->type.dtype;
  inputs_.push_back(q.input(1));
  const bool implied = q.input(2) || inputs_[0]->type.dtype == to;
  inputs_.push_back(implied ? q.input(2) : r.Const(Tensor(to, q.input(1)->type.shape.Concrete())));
}

void InputCollector::RealResult() {
  to_f32_ = true;
  inputs_.insert(inputs_.end(), {nullptr, nullptr});
}

bool InputCollector::Bias(Rewrite& r) {
  Value* bias = real_.input(2);
  inputs_.push_back(nullptr);
  if (!bias) return true;
  if (bias->type.shape.rank() != 1) return No("the bias is not a vector");
  if (IsOp(real_, "MatMul") && !PerColumn(bias->type.shape[0]))
    return No("the bias does not have one element per column");
  const Node* d = MadeBy(bias, "Dequantize");
  if (d && IntegerBias(*d)) return true;
  if (!to_f32_ || bias->type.dtype != DType::kF32) return !d && RoundedBias(r, *bias);
  inputs_.back() = bias;
  return true;
}

bool InputCollector::IntegerBias(const Node& d) {
  if (d.input(0)->type.dtype != DType::kI32 || d.output(0)->type.dtype != DType::kF32 ||
      d.attrs.Int("block_size") != 0)
    return No("the bias is not made by Dequantize from i32 to f32");
  if (d.input(2) && !AllZero(d.input(2))) return No("the bias has a zero point");
  if (!IsProductOf(d.input(1), inputs_[1], inputs_[4]))
    return No("the scale of the bias is not the product of the operands' scales");
  inputs_.back() = d.input(0);
  return true;
}

bool InputCollector::RoundedBias(Rewrite& r, const Value& bias) {
  // A larger bias could overflow the i32 sums of integer kernels.
  constexpr double kLargest = 1 << 30;
  const Value *x_scale = inputs_[1], *w_scale = inputs_[4];
  if (!bias.is_constant()) return No("the bias is neither constant nor made by Dequantize from i32 to f32");
  if (!OrdinaryScale(x_scale) || !OrdinaryScale(w_scale)) return No("the operands' scales are not constant");
  const auto values = ToDoubles(bias.constant), scales = ToDoubles(w_scale->constant);
  if (scales.size() != 1 && scales.size() != values.size()) return No("the bias does not match the scales");
  const double first = ToDoubles(x_scale->constant)[0];
  std::vector<double> rounded;
  for (size_t i = 0; i < values.size(); ++i) {
    rounded.push_back(std::nearbyint(values[i] / (first * scales[scales.size() == 1 ? 0 : i])));
    if (!(std::fabs(rounded.back()) <= kLargest)) return No("the bias is too large for i32");
  }
  inputs_.back() = r.Const(Tensor::Of(DType::kI32, bias.constant.dims(), rounded));
  return true;
}

bool InputCollector::Residual(Value* residual) {
  if (!residual) return true;
  if (!SameShape(residual, real_.output(0))) return No("the residual does not have the shape of the result");
  if (to_f32_) {
    if (residual->type.dtype != DType::kF32) return No("the residual is not f32");
    inputs_.push_back(residual);
    return true;
  }
  const Node* d = PlainDequantize(residual);
  if (!d || !OneScale(*d)) return No("the residual is not made by Dequantize with one scale");
  inputs_.insert(inputs_.end(), {d->input(0), d->input(1), d->input(2)});
  return true;
}

bool InputCollector::PerColumn(const Dim& size) const {
  const Shape& y = real_.output(0)->type.shape;
  const Value* b = real_.input(1);
  return b->type.shape.rank() > 1 && y.rank() > 0 && y[-1] == size;
}

}  // namespace tern
