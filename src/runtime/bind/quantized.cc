// Binds quantized ops to the f32 kernels of the corresponding real ops, such as QConv to Conv. Operands are
// dequantized into scratch memory, and the result is quantized. Weights are dequantized once, in Prepare. For
// 8-bit convolutions and matrix products, the integers are converted to f32 without their scales, because f32
// represents sums of integers exactly up to 2^24. If sums may be larger, the second operand is split into
// digits (digits.h), and each digit is multiplied. The scales are applied to the sums.
#include "ops/quant/quantized.h"

#include "kernels/cpu/quant/quant.h"
#include "kernels/cpu/support/blocking.h"
#include "ops/quant/evaluate_part.h"
#include "runtime/bind/digits.h"
#include "runtime/bind/rescaler.h"

namespace tern {
namespace {

cpu::QuantShape ScalesOf(const Dims& x, const Dims& scale, std::optional<int64_t> axis) {
  cpu::QuantShape s;
  s.single = !axis || CountOf(scale) == 1;
  if (s.single) {
    s.inner = CountOf(x);
    return s;
  }
  const cpu::AxisShape along = AxisShapeOf(x, AxisOf(*axis, x.size()));
  s.outer = along.outer, s.length = along.length, s.inner = along.inner;
  return s;
}

void ScaleBias(const Tensor& bias, const Tensor& first, const Tensor& second, float* y) {
  const int64_t n = bias.size();
  const bool single = second.size() == 1;
  for (int64_t i = 0; i < n; ++i)
    y[i] = static_cast<float>(bias.data<const int32_t>()[i]) *
           (first.data<const float>()[0] * second.data<const float>()[single ? 0 : i]);
}

class Quantized : public Kernel {
 public:
  // `real` is the table with the kernels of the real op.
  Quantized(const QuantizedForm& form, const KernelTable& real) : form_(form), real_(real) {}
  Quantized(const Quantized& other)
      : form_(other.form_),
        real_(other.real_),
        packed_(other.packed_),
        packed_digits_(other.packed_digits_),
        attrs_(other.attrs_),
        digits_(other.digits_),
        operands_(other.operands_),
        result_(other.result_),
        scales_(other.scales_),
        integers_(other.integers_),
        ones_(other.ones_),
        sums_(other.sums_),
        rescaler_(other.rescaler_) {
    for (const auto& kernel : other.inner_) inner_.push_back(kernel->Clone());
  }

  static bool Legal(const QuantizedForm& form, const KernelTable& table, const KernelQuery& q) {
    if (RunsOnIntegers(form, q) && (!Rescaler::Fits(form, q) || DigitsFor(form, q).count == 0)) return false;
    const Attrs attrs = AttrsFor(form, q);
    return table.Select(RealQuery(form, q, attrs, {})) != nullptr;
  }

  // Returns the estimated time of the kernel of the real op, and of the conversions from and to f32.
  static double Microseconds(const QuantizedForm& form, const KernelTable& table, const KernelQuery& q) {
    const Attrs attrs = AttrsFor(form, q);
    const KernelQuery real = RealQuery(form, q, attrs, {});
    const KernelEntry* entry = table.Select(real);
    if (!entry) return 0;
    Work work;
    const auto add = [&](DType type, const Dims& dims) {
      work.moved += static_cast<double>(CountOf(dims)) * (BitWidth(type) / 8.0 + sizeof(float));
    };
    for (int i = 0; i < form.operands; ++i)
      if (!q.IsWeight(3 * i)) add(q.InType(3 * i), q.InDims(3 * i));
    add(q.OutType(0), q.OutDims(0));
    const int products = RunsOnIntegers(form, q) ? DigitsFor(form, q).count : 1;
    return products * EstimatedMicroseconds(*entry, real) + table.rates().Microseconds(work);
  }

  Status Prepare(PrepareContext& c) override {
    const bool integers = form_.has_epilogue && OnIntegers(form_, c.InType(0), c.InType(3), c.OutType(0));
    packed_digits_.clear();
    packed_.assign(static_cast<size_t>(form_.operands + form_.has_epilogue), Tensor());
    for (int i = 0; i < form_.operands; ++i) {
      const int at = 3 * i;
      const Tensor *x = c.Weight(at), *scale = c.Weight(at + 1), *zero = c.Weight(at + 2);
      if (!x || !scale || (c.Has(at + 2) && !zero)) continue;
      Tensor& real = packed_[static_cast<size_t>(i)];
      real = c.AllocateWeights(DType::kF32, x->dims());
      const std::vector<float> ones(integers ? static_cast<size_t>(scale->size()) : 0, 1.0f);
      cpu::DequantizeF32(ScalesOf(x->dims(), scale->dims(), ScaleAxis(form_, c.attrs(), i)), x->dtype(),
                         x->raw(), integers ? ones.data() : scale->data<const float>(),
                         zero ? zero->raw() : nullptr, real.data<float>(), c.workers());
      if (integers && i == kSplit)
        SplitWeights(c, DigitsOf(form_, c.attrs(), x->dims(), c.InType(at), zero != nullptr));
    }
    if (integers || !form_.has_epilogue || c.InType(form_.bias()) != DType::kI32) return {};
    if (!c.Weight(form_.bias()) || !c.Weight(1) || !c.Weight(4)) return {};
    packed_.back() = c.AllocateWeights(DType::kF32, c.Weight(form_.bias())->dims());
    ScaleBias(*c.Weight(form_.bias()), *c.Weight(1), *c.Weight(4), packed_.back().data<float>());
    return {};
  }

  Status Resize(ResizeContext& c) override {
    integers_ = RunsOnIntegers(form_, c.query());
    attrs_ = AttrsFor(form_, c.query());
    digits_ = integers_ ? DigitsFor(form_, c.query()) : Digits();
    const KernelQuery real = RealQuery(form_, c.query(), attrs_, packed_);
    size_t bytes = 0;
    TERN_TRY(ResizeInner(c, bytes));
    operands_.clear();
    for (size_t i = 0; i < real.inputs.size(); ++i) operands_.push_back(MakeReal(real.inputs[i], i, bytes));
    result_ = MakeReal(real.outputs[0], kResult, bytes);
    scales_.clear();
    for (int i = 0; i < form_.operands; ++i) {
      scales_.push_back(ScalesOf(c->InDims(3 * i), c->InDims(3 * i + 1), ScaleAxis(form_, c->attrs(), i)));
      const auto count = static_cast<size_t>(CountOf(c->InDims(3 * i + 1)));
      if (integers_ && ones_.size() < count) ones_.assign(count, 1.0f);
    }
    if (integers_) bytes = rescaler_.Resize(form_, c.query(), bytes);
    sums_ = bytes;
    if (digits_.count > 1)
      bytes += cpu::Aligned(static_cast<size_t>(CountOf(c->OutDims(0))) * sizeof(int32_t));
    c.SetScratch(bytes);
    return {};
  }

  Status Run(RunContext& c) override {
    for (size_t i = 0; i < operands_.size(); ++i) Fill(c, i);
    Place(c, result_);
    context_.inputs.resize(operands_.size());  // allocates in the first run only
    context_.outputs.resize(1);
    for (size_t i = 0; i < operands_.size(); ++i)
      context_.inputs[i] = operands_[i].present ? &operands_[i].datum : nullptr;
    context_.outputs[0] = &result_.datum;
    context_.pool = c.pool;
    context_.scratch_memory = c.scratch_memory;
    if (digits_.count > 1) return RunDigits(c);
    TERN_TRY(inner_[0]->Run(context_));
    if (integers_) {
      rescaler_.Run(form_, c, {result_.datum.tensor.data<const float>()});
      return {};
    }
    if (c.Out(0).dtype() == DType::kF32) {
      std::copy_n(result_.datum.tensor.data<const float>(), c.Out(0).size(), c.Out<float>(0));
      return {};
    }
    cpu::QuantShape shape;
    shape.inner = c.Out(0).size();
    const int at = form_.result();
    cpu::QuantizeF32(shape, c.Out(0).dtype(), result_.datum.tensor.data<const float>(), c.In<float>(at),
                     c.Has(at + 1) ? c.In(at + 1).raw() : nullptr, c.Out(0).raw(), c.workers());
    return {};
  }

  std::unique_ptr<Kernel> Clone() const override { return std::make_unique<Quantized>(*this); }

 private:
  // A dequantized operand or result. If `packed` is true, Prepare made the tensor. Otherwise the tensor is in
  // scratch memory.
  struct RealTensor {
    size_t offset = 0;
    bool packed = false, present = true;
    Datum datum;
  };
  static constexpr size_t kResult = SIZE_MAX;  // the index that stands for the result

  static constexpr int kSplit = 1;  // the operand that is split into digits

  static Digits DigitsFor(const QuantizedForm& form, const KernelQuery& q) {
    return DigitsOf(form, q.attrs(), q.InDims(3 * kSplit), q.InType(3 * kSplit), q.Has(3 * kSplit + 2));
  }

  // Replaces the packed weights by their first digit, and packs the other digits.
  void SplitWeights(PrepareContext& c, const Digits& digits) {
    Tensor& first = packed_[kSplit];
    for (int d = 1; d < digits.count; ++d) {
      packed_digits_.push_back(c.AllocateWeights(DType::kF32, first.dims()));
      std::copy_n(first.data<const float>(), first.size(), packed_digits_.back().data<float>());
      digits.Keep(d, packed_digits_.back().data<float>(), first.size(), c.workers());
    }
    digits.Keep(0, first.data<float>(), first.size(), c.workers());
  }

  // Makes one kernel per digit, because a kernel may depend on the values of its weights. They use the same
  // scratch memory.
  Status ResizeInner(ResizeContext& c, size_t& bytes) {
    inner_.clear();
    for (int d = 0; d < digits_.count; ++d) {
      std::vector<Tensor> packed = packed_;
      if (d > 0 && Packed(kSplit)) packed[kSplit] = packed_digits_[static_cast<size_t>(d - 1)];
      const KernelQuery real = RealQuery(form_, c.query(), attrs_, packed);
      const KernelEntry* entry = real_.Select(real);
      if (!entry) return Unsupported("no f32 kernel for ", form_.real);
      inner_.push_back(entry->make());
      ResizeContext inner(real, c.threads());
      TERN_TRY(inner_.back()->Resize(inner));
      bytes = std::max(bytes, cpu::Aligned(inner.scratch()));
    }
    return {};
  }

  // Multiplies the first operand with each digit of the second one, and adds the products as integers.
  Status RunDigits(RunContext& c) {
    auto* sums = reinterpret_cast<int32_t*>(c.scratch<std::byte>() + sums_);
    const int64_t count = c.Out(0).size();
    std::fill_n(sums, count, 0);
    RealTensor& split = operands_[kSplit];
    Datum digit = split.datum;
    context_.inputs[kSplit] = &digit;
    for (int d = digits_.count - 1; d >= 0; --d) {
      if (!split.packed) {
        Fill(c, kSplit);
        digits_.Keep(d, split.datum.tensor.data<float>(), split.datum.tensor.size(), c.workers());
      }
      digit = split.packed && d > 0 ? Datum(packed_digits_[static_cast<size_t>(d - 1)]) : split.datum;
      TERN_TRY(inner_[static_cast<size_t>(d)]->Run(context_));
      digits_.Add(result_.datum.tensor.data<const float>(), count, sums, c.workers());
    }
    rescaler_.Run(form_, c, {nullptr, sums});
    return {};
  }

  bool Packed(size_t i) const { return i < packed_.size() && packed_[i].defined(); }

  RealTensor MakeReal(const TensorInfo& info, size_t i, size_t& bytes) const {
    if (Packed(i)) return {0, true, true, packed_[i]};
    if (info.dtype == DType::kInvalid) return {0, false, false, Datum()};
    const size_t size = static_cast<size_t>(CountOf(info.dims)) * sizeof(float), at = bytes;
    bytes += cpu::Aligned(size);
    return {at, false, true, Tensor::View(Buffer::Borrow(nullptr, size, nullptr), DType::kF32, info.dims)};
  }

  static void Place(const RunContext& c, RealTensor& s) {
    Tensor& t = s.datum.tensor;
    t.SetBuffer(Buffer::Borrow(c.scratch<std::byte>() + s.offset, t.bytes(), nullptr));
  }

  void Fill(const RunContext& c, size_t i) {
    RealTensor& s = operands_[i];
    if (s.packed || !s.present) return;
    Place(c, s);
    float* real = s.datum.tensor.data<float>();
    if (i == scales_.size()) return FillBias(c, real);
    if (i > scales_.size()) return FillResidual(c, real);
    const int at = 3 * static_cast<int>(i);
    cpu::DequantizeF32(scales_[i], c.In(at).dtype(), c.In(at).raw(),
                       integers_ ? ones_.data() : c.In<float>(at + 1),
                       c.Has(at + 2) ? c.In(at + 2).raw() : nullptr, real, c.workers());
  }

  void FillBias(const RunContext& c, float* real) const {
    const Tensor& bias = c.In(form_.bias());
    if (bias.dtype() == DType::kI32) return ScaleBias(bias, c.In(1), c.In(4), real);
    std::copy_n(bias.data<const float>(), bias.size(), real);
  }

  void FillResidual(const RunContext& c, float* real) const {
    const int at = form_.residual();
    const Tensor& x = c.In(at);
    if (x.dtype() == DType::kF32) {
      std::copy_n(x.data<const float>(), x.size(), real);
      return;
    }
    cpu::QuantShape shape;
    shape.inner = x.size();
    cpu::DequantizeF32(shape, x.dtype(), x.raw(), c.In<float>(at + 1),
                       c.Has(at + 2) ? c.In(at + 2).raw() : nullptr, real, c.workers());
  }

  static bool RunsOnIntegers(const QuantizedForm& form, const KernelQuery& q) {
    return form.has_epilogue && OnIntegers(form, q.InType(0), q.InType(3), q.OutType(0));
  }

  // Returns the attributes of the real op. If the kernel runs on integers, they contain no activation,
  // because the Rescaler applies bias, residual and activation.
  static Attrs AttrsFor(const QuantizedForm& form, const KernelQuery& q) {
    Attrs attrs = RealAttrs(form, q.attrs());
    return RunsOnIntegers(form, q) ? WithoutActivation(std::move(attrs)) : attrs;
  }

  // Returns the query for the kernel of the real op.
  static KernelQuery RealQuery(const QuantizedForm& form, const KernelQuery& q, const Attrs& attrs,
                               const std::vector<Tensor>& packed) {
    KernelQuery real(*FindOp(form.real), attrs);
    for (int i = 0; i < form.operands; ++i) real.inputs.push_back({DType::kF32, q.InDims(3 * i)});
    if (form.has_epilogue && !RunsOnIntegers(form, q)) {
      const bool residual = q.Has(form.residual());
      if (q.Has(form.bias()) || residual)
        real.inputs.push_back(q.Has(form.bias()) ? TensorInfo{DType::kF32, q.InDims(form.bias())}
                                                 : TensorInfo());
      if (residual) real.inputs.push_back({DType::kF32, q.InDims(form.residual())});
    }
    real.outputs.push_back({DType::kF32, q.OutDims(0)});
    real.exact_integers = RunsOnIntegers(form, q);
    real.known.resize(real.inputs.size());
    real.weight.resize(real.inputs.size());
    for (size_t i = 0; i < real.inputs.size() && i < packed.size(); ++i) {
      if (packed[i].defined())
        real.known[i] = &packed[i];  // known, but not a weight, because the inner kernel is never prepared
    }
    return real;
  }

  const QuantizedForm& form_;
  const KernelTable& real_;
  std::vector<Tensor> packed_;         // one per input of the real op; undefined if the input is not a weight
  std::vector<Tensor> packed_digits_;  // digits 1 and following of packed_[kSplit]
  Attrs attrs_;
  Digits digits_;
  std::vector<std::unique_ptr<Kernel>> inner_;  // one per digit
  std::vector<RealTensor> operands_;
  RealTensor result_;
  std::vector<cpu::QuantShape> scales_;
  bool integers_ = false;
  std::vector<float> ones_;
  size_t sums_ = 0;  // offset of the sums of all digits in scratch memory
  Rescaler rescaler_;
  RunContext context_;
};

// Legal only for types that the kernels of quantized_bytes.cc do not support.
class NotOnIntegers : public Quantized {
 public:
  using Quantized::Quantized;
  static bool Legal(const QuantizedForm& form, const KernelTable& table, const KernelQuery& q) {
    return !OnIntegers(form, q.InType(0), q.InType(3), q.OutType(0)) && Quantized::Legal(form, table, q);
  }
  std::unique_ptr<Kernel> Clone() const override { return std::make_unique<NotOnIntegers>(*this); }
};

// Computes an elementwise function of an 8-bit tensor. Run fills a table with the results for all 256 values,
// then looks up each element.
class ByTable : public Kernel {
 public:
  ByTable(const QuantizedForm& form, const KernelTable& real) : results_(form, real) {}

  static bool Legal(const QuantizedForm& form, const KernelTable& table, const KernelQuery& q) {
    return BitWidth(q.InType(0)) == 8 && BitWidth(q.OutType(0)) == 8 && Quantized::Legal(form, table, q);
  }

  Status Resize(ResizeContext& c) override {
    const DType from = c->InType(0), to = c->OutType(0);
    Tensor codes(from, {kCodes});
    for (int i = 0; i < kCodes; ++i) codes.data<uint8_t>()[i] = static_cast<uint8_t>(i);
    codes_ = codes;
    table_ = Tensor(to, {kCodes});
    KernelQuery query(c->op(), c->attrs());
    query.inputs = c->inputs, query.outputs = c->outputs;
    query.inputs[0].dims = query.outputs[0].dims = {kCodes};
    query.known.resize(query.inputs.size());
    query.weight.resize(query.inputs.size());
    ResizeContext inner(query, c.threads());
    TERN_TRY(results_.Resize(inner));
    c.SetScratch(inner.scratch());
    return {};
  }

  Status Run(RunContext& c) override {
    context_.inputs = c.inputs;
    context_.inputs[0] = &codes_;
    context_.outputs.resize(1);
    context_.outputs[0] = &table_;
    context_.pool = c.pool;
    context_.scratch_memory = c.scratch_memory;
    TERN_TRY(results_.Run(context_));
    cpu::LookupBytes(table_.tensor.raw(), c.In(0).raw(), c.Out(0).raw(), c.Out(0).size(), c.workers());
    return {};
  }

  std::unique_ptr<Kernel> Clone() const override {
    auto copy = std::make_unique<ByTable>(*this);
    // Each clone needs its own table, because Run writes the table.
    if (table_.tensor.defined()) copy->table_ = table_.tensor.Clone();
    return copy;
  }

 private:
  static constexpr int kCodes = 256;
  Quantized results_;
  Datum codes_, table_;
  RunContext context_;
};

template <class T>
[[gnu::always_inline]] inline void AddQuantized(KernelTable& table, const char* op, KernelName name,
                                                double cost = 1) {
  if (!name.selected()) return;
  const QuantizedForm& form = *QuantizedFormOf(op);
  KernelEntry entry;
  entry.op = op;
  entry.name = name.text();
  entry.legal = [&form, &table](const KernelQuery& q) { return T::Legal(form, table, q); };
  entry.make = [&form, &table] { return std::make_unique<T>(form, table); };
  if (form.has_epilogue)
    entry.can.cost_of = [&form, &table](const KernelQuery& q) {
      return Quantized::Microseconds(form, table, q);
    };
  entry.cost = cost;
  table.Add(std::move(entry));
}

}  // namespace

TERN_KERNELS(Quantized) {
  AddQuantized<Quantized>(table, "QConv", "cpu.qconv.via_f32");
  AddQuantized<Quantized>(table, "QMatMul", "cpu.qmatmul.via_f32");
  AddQuantized<NotOnIntegers>(table, "QBinary", "cpu.qbinary.via_f32");
  AddQuantized<Quantized>(table, "QPool", "cpu.qpool.via_f32");
  AddQuantized<NotOnIntegers>(table, "QGlobalPool", "cpu.qglobal_pool.via_f32");
  AddQuantized<Quantized>(table, "QUnary", "cpu.qunary.via_f32");
  AddQuantized<Quantized>(table, "QActivation", "cpu.qactivation.via_f32");
  AddQuantized<ByTable>(table, "QUnary", "cpu.qunary.table", 0.5);
  AddQuantized<ByTable>(table, "QActivation", "cpu.qactivation.table", 0.5);
}

}  // namespace tern
