#include "runtime/bind/byte_bound.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/cpu/support/blocking.h"

namespace tern {
namespace {

constexpr int kX = 0, kXScale = 1, kXZero = 2, kW = 3, kWScale = 4, kWZero = 5;

bool IsByte(DType t) { return t == DType::kU8 || t == DType::kI8; }

// The known inputs of a query, with the functions of RunContext that Fill and ZeroOf call.
struct KnownInputs {
  const KernelQuery& q;
  bool Has(int i) const { return q.Has(i); }
  const Tensor& In(int i) const { return *q.Known(i); }
};

template <class Inputs> int32_t ZeroOf(const Inputs& in, int i) {
  return in.Has(i) ? static_cast<int32_t>(LoadLong(in.In(i), 0)) : 0;
}
template <class Inputs> const float* FloatsOf(const Inputs& in, int i) {
  return in.In(i).template data<const float>();
}

bool AllZero(const Tensor& t) {
  for (int64_t i = 0; i < t.size(); ++i)
    if (LoadLong(t, i) != 0) return false;
  return true;
}

bool HasData(const Tensor* t) { return t && t->raw(); }

// Returns why sums of `depth` products and the i32 bias may exceed 32 bits, or an empty string.
std::string WhyNotBias(const QuantizedForm& form, const KernelQuery& q, int64_t depth) {
  if (depth > cpu::kMaxByteDepth) return "the sums may exceed 32 bits";
  if (!q.Has(form.bias()) || q.InType(form.bias()) != DType::kI32) return "";
  if (!q.IsWeight(form.bias()) || !HasData(q.Known(form.bias())))
    return "the i32 bias is not constant, so the sums may exceed 32 bits";
  const Tensor& bias = *q.Known(form.bias());
  const int64_t room = INT32_MAX - depth * 255 * 128;
  for (int64_t i = 0; i < bias.size(); ++i)
    if (std::abs(LoadLong(bias, i)) > room) return "the sums with this bias may exceed 32 bits";
  return "";
}

cpu::ByteWeights WeightsOf(const Tensor& w, const Tensor* zero) {
  return {w.raw(), w.dtype(), zero ? zero->raw() : nullptr, zero && zero->size() > 1};
}

}  // namespace

std::string ByteBound::WhyNot(const QuantizedForm& form, const KernelQuery& q, int64_t row, int64_t column,
                              int64_t depth, int64_t columns) {
  if (!OnIntegers(form, q.InType(kX), q.InType(kW), q.OutType(0))) return "needs 8-bit operands";
  if (!q.IsWeight(kW) || (q.Has(kWZero) && !q.IsWeight(kWZero))) return "needs constant weights";
  const int residual = form.residual();
  if (q.Has(residual) && q.OutType(0) != DType::kF32 && !IsByte(q.InType(residual)))
    return "needs a residual of 8 bits";
  if (const std::string why = WhyNotBias(form, q, depth); !why.empty()) return why;
  // Without data, the weights were released. That happens only after these kernels have packed them, so this
  // check has already passed.
  const Tensor *w = q.Known(kW), *zero = q.Known(kWZero);
  if (!HasData(w) || (q.Has(kWZero) && !HasData(zero))) return "";
  if (w->dtype() == DType::kI8 && (!zero || AllZero(*zero))) return "";
  return cpu::FitsI8(WeightsOf(*w, zero), row, column, depth, columns)
             ? ""
             : "the weights minus their zero points do not fit into 8 bits";
}

cpu::ByteWeights ByteBound::Weights(const PrepareContext& c) {
  return WeightsOf(*c.Weight(kW), c.Has(kWZero) ? c.Weight(kWZero) : nullptr);
}

std::vector<int> ByteBound::PackedInputs(const PrepareContext& c) {
  return c.Has(kWZero) ? std::vector<int>{kW, kWZero} : std::vector<int>{kW};
}

template <class Inputs> void ByteBound::Fill(const Inputs& in, float* scales, int32_t* bias) const {
  const bool real = y_ == DType::kF32, single = in.In(kWScale).size() == 1;
  const float x_scale = FloatsOf(in, kXScale)[0],
              y_scale = real ? 1 : FloatsOf(in, in.Has(form_->inner()) ? form_->inner() : form_->result())[0];
  const float* w_scale = FloatsOf(in, kWScale);
  const int32_t x_zero = ZeroOf(in, kXZero);
  const bool biased = in.Has(form_->bias()) && in.In(form_->bias()).dtype() == DType::kI32;
  const int32_t* given = biased ? in.In(form_->bias()).template data<const int32_t>() : nullptr;
  const int32_t* sums = cpu::WeightSums(packed_);
  for (int64_t i = 0; i < columns_; ++i) {
    const float w = w_scale[single ? 0 : i];
    scales[i] = real ? x_scale * w : cpu::FiniteScale(ProductMultiplier(x_scale, w, y_scale));
    bias[i] = cpu::CompensatedBias(given ? given[i] : 0, x_, x_zero, sums[i]);
  }
}

size_t ByteBound::Resize(const KernelQuery& q, const int8_t* packed, int64_t columns, size_t bytes) {
  packed_ = packed, columns_ = columns;
  x_ = q.InType(kX), y_ = q.OutType(0);
  activation_ = ActivationOf(q.attrs());
  real_bounds_ = RealBoundsOf(q.attrs());
  known_ = true;
  residual_first_ = q.attrs().Bool("residual_first");
  for (int i : {kXScale, kXZero, kWScale, form_->result(), form_->bias(), form_->inner()})
    known_ = known_ && (!q.Has(i) || (q.IsWeight(i) && q.Known(i)));
  at_ = bytes;
  const auto count = static_cast<size_t>(columns);
  if (!known_) return bytes + cpu::Aligned(count * (sizeof(float) + sizeof(int32_t)));
  scales_.resize(count), bias_.resize(count);
  Fill(KnownInputs{q}, scales_.data(), bias_.data());
  return bytes;
}

cpu::ByteEpilogue ByteBound::For(const RunContext& c) const {
  cpu::ByteEpilogue e;
  e.scale = scales_.data(), e.bias = bias_.data();
  if (!known_) {
    auto* scales = reinterpret_cast<float*>(c.scratch<std::byte>() + at_);
    auto* bias = reinterpret_cast<int32_t*>(scales + columns_);
    Fill(c, scales, bias);
    e.scale = scales, e.bias = bias;
  }
  const int result = form_->result(), residual = form_->residual();
  e.residual_row = columns_;
  if (y_ == DType::kF32) {
    e.output = cpu::ByteOutput::kF32;
    if (c.Has(form_->bias()) && c.In(form_->bias()).dtype() == DType::kF32)
      e.f32_bias = c.In<float>(form_->bias());
    if (c.Has(residual)) e.f32_residual = c.In<float>(residual);
    e.clip = real_bounds_.clip, e.low = real_bounds_.low, e.high = real_bounds_.high;
    return e;
  }
  const int32_t zero = ZeroOf(c, result + 1);
  const float y_scale = c.In<float>(result)[0];
  const IntegerBounds bounds = BoundsOf(y_, zero, y_scale, activation_);
  e.to = {y_, static_cast<float>(zero), bounds.low, bounds.high};
  if (c.Has(residual)) SetResidual(c, e);
  return e;
}

void ByteBound::SetResidual(const RunContext& c, cpu::ByteEpilogue& e) const {
  const int residual = form_->residual(), inner = form_->inner();
  const float y_scale = c.In<float>(form_->result())[0], scale = c.In<float>(residual + 1)[0];
  const int32_t zero = ZeroOf(c, residual + 2);
  e.residual = c.In(residual).raw(), e.residual_type = c.In(residual).dtype();
  if (!c.Has(inner)) {
    e.residual_mode = cpu::ByteResidual::kBeforeRounding;
    e.residual_zero = static_cast<float>(zero), e.residual_ratio = scale / y_scale;
    return;
  }
  e.residual_mode = cpu::ByteResidual::kAfterRounding;
  e.residual_first = residual_first_;
  const float inner_scale = c.In<float>(inner)[0];
  const int32_t inner_zero = ZeroOf(c, inner + 1), y_zero = ZeroOf(c, form_->result() + 1);
  const DType type = c.In(inner + 1).dtype();
  const IntegerBounds own = BoundsOf(type, inner_zero, inner_scale, activation_),
                      all = BoundsOf(y_, y_zero, 1);
  e.inner = {type, static_cast<float>(inner_zero), own.low, own.high};
  e.to = {y_, static_cast<float>(y_zero), all.low, all.high};
  const SumRatios r = residual_first_ ? RatiosOf(scale, zero, inner_scale, inner_zero, y_scale, y_zero)
                                      : RatiosOf(inner_scale, inner_zero, scale, zero, y_scale, y_zero);
  e.a_ratio = r.a, e.b_ratio = r.b, e.rest = r.rest;
}

int32_t ByteBound::XZero(const RunContext& c) const { return ZeroOf(c, kXZero); }

}  // namespace tern
