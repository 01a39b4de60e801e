// Binds sums, products and means of 8-bit tensors to integer kernels.
#include "kernels/cpu/quant/integer.h"
#include "ops/quant/integer.h"
#include "runtime/bind/support.h"
#include "runtime/bind/via_nchw.h"

namespace tern {
namespace {

float Scale(const RunContext& c, int i) { return c.In<float>(i)[0]; }
int32_t Zero(const RunContext& c, int i) { return c.Has(i) ? static_cast<int32_t>(LoadLong(c.In(i), 0)) : 0; }

// Returns the operand at input i. The operand's scale is input i + 1, and its zero point is input i + 2.
cpu::ByteOperand Operand(const RunContext& c, int i) {
  return {c.In(i).dtype(), c.In(i).raw(), static_cast<float>(Zero(c, i + 2)), 1};
}

// Returns the range of the result. The result's scale is input i, and its zero point is input i + 1.
cpu::ByteRange Range(const RunContext& c, int i) {
  const DType to = c.Out(0).dtype();
  const int32_t zero = Zero(c, i + 1);
  const IntegerBounds bounds = BoundsOf(to, zero, Scale(c, i));
  return {to, static_cast<float>(zero), bounds.low, bounds.high};
}

bool LegalFor(const char* op, const KernelQuery& q) {
  return OnIntegers(*QuantizedFormOf(op), q.InType(0), q.InType(3), q.OutType(0)) && RankFits(q.OutDims(0));
}

class Binary : public KernelOf<Binary> {
 public:
  static bool Legal(const KernelQuery& q) { return LegalFor("QBinary", q); }

  Status Resize(ResizeContext& c) override {
    sum_ = c->attrs().Text("kind") == "add";
    plan_ = cpu::MakeBroadcast<2>(c->OutDims(0), {c->InDims(0), c->InDims(3)});
    return {};
  }

  Status Run(RunContext& c) override {
    cpu::ByteOperand a = Operand(c, 0), b = Operand(c, 3);
    const cpu::ByteRange to = Range(c, 6);
    if (!sum_) {
      const float multiplier = ProductMultiplier(Scale(c, 1), Scale(c, 4), Scale(c, 6));
      cpu::ByteProduct(plan_, a, b, multiplier, to, c.Out(0).raw(), c.workers());
      return {};
    }
    const SumRatios r = RatiosOf(Scale(c, 1), Zero(c, 2), Scale(c, 4), Zero(c, 5), Scale(c, 6), Zero(c, 7));
    a.ratio = r.a, b.ratio = r.b;
    cpu::ByteSum(plan_, a, b, r.rest, to, c.Out(0).raw(), c.workers());
    return {};
  }

 private:
  bool sum_ = true;
  cpu::Broadcast<2> plan_;
};

class GlobalPool : public KernelOf<GlobalPool> {
 public:
  static bool Legal(const KernelQuery& q) { return LegalFor("QGlobalPool", q) && !IsChannelsLast(q); }

  Status Resize(ResizeContext& c) override {
    const Dims& x = c->InDims(0);
    rows_ = CountFrom(x, 0, 2), size_ = CountFrom(x, 2, x.size());
    return {};
  }

  Status Run(RunContext& c) override {
    const float multiplier = MeanMultiplier(Scale(c, 1), Scale(c, 3), size_);
    cpu::ByteMeans(Operand(c, 0), rows_, size_, multiplier, Range(c, 3), c.Out(0).raw(), c.workers());
    return {};
  }

 private:
  int64_t rows_ = 0, size_ = 1;
};

}  // namespace

TERN_KERNELS(QuantizedBytes) {
  table.Add<Binary>("QBinary", "cpu.qbinary.bytes", Binary::Legal);
  AddWithLayouts<GlobalPool>(table, "QGlobalPool", "cpu.qglobal_pool.bytes");
}

}  // namespace tern
