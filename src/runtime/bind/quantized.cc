// Ties ops on quantized tensors to the kernels of the ops on real numbers: operands are dequantized into
// scratch memory, weights once for all, and the result is quantized from there.
#include "ops/quant/quantized.h"

#include "kernels/cpu/quant/quant.h"
#include "runtime/bind/support.h"

namespace tern {
namespace {

size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

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
  explicit Quantized(const QuantizedForm& form) : form_(form) {}
  Quantized(const Quantized& other) : form_(other.form_), packed_(other.packed_) {}

  static bool Legal(const QuantizedForm& form, const KernelQuery& q) {
    const Attrs attrs = RealAttrs(form, q.attrs());
    return CpuKernels().Select(RealQuery(form, q, attrs, {})) != nullptr;
  }

  Status Prepare(PrepareContext& c) override {
    const int count = form_.operands + form_.has_bias;
    packed_.assign(static_cast<size_t>(count), Tensor());
    for (int i = 0; i < form_.operands; ++i) {
      const int at = 3 * i;
      const Tensor *x = c.Weight(at), *scale = c.Weight(at + 1), *zero = c.Weight(at + 2);
      if (!x || !scale || (c.Has(at + 2) && !zero)) continue;
      Tensor& real = packed_[static_cast<size_t>(i)];
      real = c.AllocateWeights(DType::kF32, x->dims());
      cpu::DequantizeF32(ScalesOf(x->dims(), scale->dims(), ScaleAxis(form_, c.attrs(), i)), x->dtype(),
                         x->raw(), scale->data<const float>(), zero ? zero->raw() : nullptr,
                         real.data<float>(), Workers(1));
    }
    if (!form_.has_bias || !c.Weight(form_.bias()) || !c.Weight(1) || !c.Weight(4)) return {};
    packed_.back() = c.AllocateWeights(DType::kF32, c.Weight(form_.bias())->dims());
    ScaleBias(*c.Weight(form_.bias()), *c.Weight(1), *c.Weight(4), packed_.back().data<float>());
    return {};
  }

  Status Resize(ResizeContext& c) override {
    attrs_ = RealAttrs(form_, c->attrs());
    const KernelQuery real = RealQuery(form_, c.query(), attrs_, packed_);
    const KernelEntry* entry = CpuKernels().Select(real);
    if (!entry) return Unsupported("no kernel for ", form_.real, " on real numbers");
    inner_ = entry->make();
    ResizeContext inner(real, c.threads());
    TERN_TRY(inner_->Resize(inner));
    size_t bytes = Aligned(inner.scratch());
    operands_.clear();
    for (size_t i = 0; i < real.inputs.size(); ++i) operands_.push_back(StandFor(real.inputs[i], i, bytes));
    result_ = StandFor(real.outputs[0], real.inputs.size(), bytes);
    scales_.clear();
    for (int i = 0; i < form_.operands; ++i)
      scales_.push_back(ScalesOf(c->InDims(3 * i), c->InDims(3 * i + 1), ScaleAxis(form_, c->attrs(), i)));
    context_.inputs.resize(operands_.size());
    for (size_t i = 0; i < operands_.size(); ++i) context_.inputs[i] = &operands_[i].datum;
    context_.outputs = {&result_.datum};
    c.SetScratch(bytes);
    return {};
  }

  Status Run(RunContext& c) override {
    for (size_t i = 0; i < operands_.size(); ++i) Fill(c, i);
    Place(c, result_);
    context_.pool = c.pool;
    context_.scratch_memory = c.scratch_memory;
    TERN_TRY(inner_->Run(context_));
    cpu::QuantShape whole;
    whole.inner = c.Out(0).size();
    const int at = form_.result();
    cpu::QuantizeF32(whole, c.Out(0).dtype(), result_.datum.tensor.data<const float>(), c.In<float>(at),
                     c.Has(at + 1) ? c.In(at + 1).raw() : nullptr, c.Out(0).raw(), c.workers());
    return {};
  }

  std::unique_ptr<Kernel> Clone() const override { return std::make_unique<Quantized>(*this); }

 private:
  // Real numbers in scratch memory, or packed.
  struct Stand {
    size_t offset = 0;
    bool packed = false;
    Datum datum;
  };

  bool Packed(size_t i) const { return i < packed_.size() && packed_[i].defined(); }

  Stand StandFor(const TensorInfo& info, size_t i, size_t& bytes) const {
    if (Packed(i)) return {0, true, packed_[i]};
    const size_t size = static_cast<size_t>(CountOf(info.dims)) * sizeof(float), at = bytes;
    bytes += Aligned(size);
    return {at, false, Tensor::View(Buffer::Borrow(nullptr, size, nullptr), DType::kF32, info.dims)};
  }

  static void Place(const RunContext& c, Stand& s) {
    Tensor& t = s.datum.tensor;
    t.SetBuffer(Buffer::Borrow(c.scratch<std::byte>() + s.offset, t.bytes(), nullptr));
  }

  void Fill(const RunContext& c, size_t i) {
    Stand& s = operands_[i];
    if (s.packed) return;
    Place(c, s);
    float* real = s.datum.tensor.data<float>();
    if (i >= scales_.size()) return ScaleBias(c.In(form_.bias()), c.In(1), c.In(4), real);
    const int at = 3 * static_cast<int>(i);
    cpu::DequantizeF32(scales_[i], c.In(at).dtype(), c.In(at).raw(), c.In<float>(at + 1),
                       c.Has(at + 2) ? c.In(at + 2).raw() : nullptr, real, c.workers());
  }

  // What the kernel on real numbers is asked for.
  static KernelQuery RealQuery(const QuantizedForm& form, const KernelQuery& q, const Attrs& attrs,
                               const std::vector<Tensor>& packed) {
    KernelQuery real(*FindOp(form.real), attrs);
    for (int i = 0; i < form.operands; ++i) real.inputs.push_back({DType::kF32, q.InDims(3 * i)});
    if (form.has_bias && q.Has(form.bias())) real.inputs.push_back({DType::kF32, q.InDims(form.bias())});
    real.outputs.push_back({DType::kF32, q.OutDims(0)});
    real.known.resize(real.inputs.size());
    real.weight.resize(real.inputs.size());
    for (size_t i = 0; i < real.inputs.size() && i < packed.size(); ++i) {
      if (packed[i].defined())
        real.known[i] = &packed[i];  // but no weight: the inner kernel is never prepared
    }
    return real;
  }

  const QuantizedForm& form_;
  std::vector<Tensor> packed_;  // by input of the real op; undefined where it is not a weight
  Attrs attrs_;
  std::unique_ptr<Kernel> inner_;
  std::vector<Stand> operands_;
  Stand result_;
  std::vector<cpu::QuantShape> scales_;
  RunContext context_;
};

// A function of 8 bits: its 256 results first, then each element by looking up.
class ByTable : public Kernel {
 public:
  explicit ByTable(const QuantizedForm& form) : form_(form), results_(form) {}

  static bool Legal(const QuantizedForm& form, const KernelQuery& q) {
    return BitWidth(q.InType(0)) == 8 && BitWidth(q.OutType(0)) == 8 && Quantized::Legal(form, q);
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
    context_.inputs.resize(query.inputs.size());
    context_.outputs = {&table_};
    c.SetScratch(inner.scratch());
    return {};
  }

  Status Run(RunContext& c) override {
    context_.inputs = c.inputs;
    context_.inputs[0] = &codes_;
    context_.pool = c.pool;
    context_.scratch_memory = c.scratch_memory;
    TERN_TRY(results_.Run(context_));
    const uint8_t* table = table_.tensor.data<const uint8_t>();
    const auto* x = static_cast<const uint8_t*>(c.In(0).raw());
    auto* y = static_cast<uint8_t*>(c.Out(0).raw());
    c.workers().ParallelFor(c.Out(0).size(), 32768, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = table[x[i]];
    });
    return {};
  }

  std::unique_ptr<Kernel> Clone() const override { return std::make_unique<ByTable>(form_); }

 private:
  static constexpr int kCodes = 256;
  const QuantizedForm& form_;
  Quantized results_;
  Datum codes_, table_;
  RunContext context_;
};

template <class T> void AddQuantized(KernelTable& table, const char* op, const char* name, double cost = 1) {
  const QuantizedForm& form = *QuantizedFormOf(op);
  KernelEntry entry;
  entry.op = op;
  entry.name = name;
  entry.legal = [&form](const KernelQuery& q) { return T::Legal(form, q); };
  entry.make = [&form] { return std::make_unique<T>(form); };
  entry.cost = cost;
  table.Add(std::move(entry));
}

}  // namespace

TERN_KERNELS(Quantized) {
  AddQuantized<Quantized>(table, "QConv", "cpu.qconv.via_f32");
  AddQuantized<Quantized>(table, "QMatMul", "cpu.qmatmul.via_f32");
  AddQuantized<Quantized>(table, "QBinary", "cpu.qbinary.via_f32");
  AddQuantized<Quantized>(table, "QPool", "cpu.qpool.via_f32");
  AddQuantized<Quantized>(table, "QGlobalPool", "cpu.qglobal_pool.via_f32");
  AddQuantized<Quantized>(table, "QUnary", "cpu.qunary.via_f32");
  AddQuantized<Quantized>(table, "QActivation", "cpu.qactivation.via_f32");
  AddQuantized<ByTable>(table, "QUnary", "cpu.qunary.table", 0.5);
  AddQuantized<ByTable>(table, "QActivation", "cpu.qactivation.table", 0.5);
}

}  // namespace tern
