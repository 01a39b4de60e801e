#include "runtime/bind/rescaler.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/cpu/support/blocking.h"

namespace tern {
namespace {

constexpr int64_t kRescaleGrain = 16384;
constexpr int64_t kExact = 1 << 24;  // f32 represents all integers up to this one

int32_t ZeroAt(const RunContext& c, int i) {
  return c.Has(i) ? static_cast<int32_t>(LoadLong(c.In(i), 0)) : 0;
}

}  // namespace

bool Rescaler::Fits(const QuantizedForm& form, const KernelQuery& q) {
  return !q.Has(form.residual()) || q.InDims(form.residual()) == q.OutDims(0);
}

size_t Rescaler::Resize(const QuantizedForm& form, const KernelQuery& q, size_t bytes) {
  const Dims& y = q.OutDims(0);
  const bool second = std::string_view(form.real) == "Conv" && !q.attrs().Bool("channels_last");
  shape_ = cpu::ChannelShape();
  if (!y.empty()) {
    const cpu::AxisShape along = AxisShapeOf(y, second ? 1 : y.size() - 1);
    shape_ = {along.outer, along.length, along.inner};
  }
  activation_ = ActivationOf(q.attrs());
  real_bounds_ = RealBoundsOf(q.attrs());
  residual_first_ = q.attrs().Bool("residual_first");
  at_ = bytes;
  return bytes + cpu::Aligned(static_cast<size_t>(shape_.channels) * (sizeof(float) + sizeof(int32_t)));
}

void Rescaler::Run(const QuantizedForm& form, const RunContext& c, const IntegerSums& sums) const {
  const auto channels = static_cast<size_t>(shape_.channels);
  auto* multipliers = reinterpret_cast<float*>(c.scratch<std::byte>() + at_);
  auto* bias = reinterpret_cast<int32_t*>(multipliers + channels);
  const bool single = c.In(4).size() == 1, real = c.Out(0).dtype() == DType::kF32;
  const bool integer_bias = c.Has(form.bias()) && c.In(form.bias()).dtype() == DType::kI32;
  const int result = c.Has(form.inner()) ? form.inner() : form.result();
  for (size_t i = 0; i < channels; ++i) {
    const float a_scale = c.In<float>(1)[0], b_scale = c.In<float>(4)[single ? 0 : i];
    multipliers[i] = real ? a_scale * b_scale : ProductMultiplier(a_scale, b_scale, c.In<float>(result)[0]);
    bias[i] = integer_bias ? c.In<int32_t>(form.bias())[i] : 0;
  }
  if (real) return ToReal(form, c, {sums, multipliers, bias});
  if (c.Has(form.inner())) return AddAfterRounding(form, c, {sums, multipliers, bias});
  if (c.Has(form.residual())) return AddResidual(form, c, {sums, multipliers, bias});
  // This kernel adds in f32.
  if (sums.f32 &&
      std::all_of(bias, bias + channels, [](int32_t b) { return std::abs(int64_t{b}) <= kExact; }))
    return cpu::RescaleChannels(shape_, RangeOf(form, c), sums.f32, bias, multipliers, c.Out(0).raw(),
                                c.workers());
  Round(form, c, {sums, multipliers, bias});
}

void Rescaler::Round(const QuantizedForm& form, const RunContext& c, const Args& a) const {
  const cpu::ByteRange to = RangeOf(form, c);
  Tensor y = c.Out(0);
  Each(c, [&](int64_t i, int64_t channel) {
    const float v = a.Scaled(i, channel);
    const float bounded = std::isnan(v) ? 0 : std::nearbyint(std::min(std::max(v, to.low), to.high));
    StoreLong(y, i, static_cast<int64_t>(bounded + to.zero));
  });
}

cpu::ByteRange Rescaler::RangeOf(const QuantizedForm& form, const RunContext& c) const {
  const int at = form.result();
  const DType to = c.Out(0).dtype();
  const int32_t zero = ZeroAt(c, at + 1);
  const IntegerBounds bounds = BoundsOf(to, zero, c.In<float>(at)[0], activation_);
  return {to, static_cast<float>(zero), bounds.low, bounds.high};
}

template <class F> void Rescaler::Each(const RunContext& c, const F& f) const {
  c.workers().ParallelFor(c.Out(0).size(), kRescaleGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i, i / shape_.inner % shape_.channels);
  });
}

void Rescaler::AddResidual(const QuantizedForm& form, const RunContext& c, const Args& a) const {
  const int at = form.residual();
  const cpu::ByteRange to = RangeOf(form, c);
  const float ratio = c.In<float>(at + 1)[0] / c.In<float>(form.result())[0];
  const int32_t zero = ZeroAt(c, at + 2);
  const Tensor& residual = c.In(at);
  Tensor y = c.Out(0);
  Each(c, [&](int64_t i, int64_t channel) {
    const float r = static_cast<float>(LoadLong(residual, i) - zero) * ratio;
    const float v = a.Scaled(i, channel) + r;
    const float bounded = std::isnan(v) ? 0 : std::nearbyint(std::min(std::max(v, to.low), to.high));
    StoreLong(y, i, static_cast<int64_t>(bounded + to.zero));
  });
}

void Rescaler::AddAfterRounding(const QuantizedForm& form, const RunContext& c, const Args& a) const {
  const int inner = form.inner(), at = form.residual(), result = form.result();
  const int32_t inner_zero = ZeroAt(c, inner + 1), zero = ZeroAt(c, result + 1);
  const float inner_scale = c.In<float>(inner)[0], y_scale = c.In<float>(result)[0],
              r_scale = c.In<float>(at + 1)[0];
  const IntegerBounds own = BoundsOf(c.In(inner + 1).dtype(), inner_zero, inner_scale, activation_),
                      bounds = BoundsOf(c.Out(0).dtype(), 0, 1);
  const SumRatios r = residual_first_
                          ? RatiosOf(r_scale, ZeroAt(c, at + 2), inner_scale, inner_zero, y_scale, zero)
                          : RatiosOf(inner_scale, inner_zero, r_scale, ZeroAt(c, at + 2), y_scale, zero);
  const Tensor& residual = c.In(at);
  Tensor y = c.Out(0);
  Each(c, [&](int64_t i, int64_t channel) {
    const float v = a.Scaled(i, channel);
    const float q = (std::isnan(v) ? 0 : std::nearbyint(std::min(std::max(v, own.low), own.high))) +
                    static_cast<float>(inner_zero);
    const auto other = static_cast<float>(LoadLong(residual, i));
    const float sum =
        std::fma(residual_first_ ? other : q, r.a, std::fma(residual_first_ ? q : other, r.b, r.rest));
    StoreLong(y, i,
              std::isnan(sum)
                  ? zero
                  : static_cast<int64_t>(std::nearbyint(std::clamp(sum, bounds.low, bounds.high))));
  });
}

void Rescaler::ToReal(const QuantizedForm& form, const RunContext& c, const Args& a) const {
  const bool biased = c.Has(form.bias()) && c.In(form.bias()).dtype() == DType::kF32;
  const float* bias = biased ? c.In<float>(form.bias()) : nullptr;
  const float* residual = c.Has(form.residual()) ? c.In<float>(form.residual()) : nullptr;
  float* y = c.Out<float>(0);
  Each(c, [&](int64_t i, int64_t channel) {
    float v = a.Scaled(i, channel);
    if (bias) v += bias[channel];
    if (residual) v += residual[i];
    y[i] = real_bounds_(v);
  });
}

}  // namespace tern
