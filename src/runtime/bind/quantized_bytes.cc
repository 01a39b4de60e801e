// Binds sums, products, means and maxima of 8-bit tensors to integer kernels.
#include "kernels/cpu/byte/byte_pool.h"
#include "kernels/cpu/quant/integer.h"
#include "ops/quant/integer.h"
#include "runtime/bind/support.h"
#include "runtime/bind/via_nchw.h"

namespace tern {
namespace {

float ScaleOf(const RunContext& c, int i) { return c.In<float>(i)[0]; }
int32_t Zero(const RunContext& c, int i) { return c.Has(i) ? static_cast<int32_t>(LoadLong(c.In(i), 0)) : 0; }

// Returns the operand at input i. The operand's scale is input i + 1, and its zero point is input i + 2.
cpu::ByteOperand OperandOf(const RunContext& c, int i) {
  return {c.In(i).dtype(), c.In(i).raw(), static_cast<float>(Zero(c, i + 2)), 1};
}

// Returns the range of the result. The result's scale is input i, and its zero point is input i + 1.
cpu::ByteRange RangeOf(const RunContext& c, int i) {
  const DType to = c.Out(0).dtype();
  const int32_t zero = Zero(c, i + 1);
  const IntegerBounds bounds = BoundsOf(to, zero, ScaleOf(c, i));
  return {to, static_cast<float>(zero), bounds.low, bounds.high};
}

bool LegalFor(const char* op, const KernelQuery& q) {
  return OnIntegers(*QuantizedFormOf(op), q.InType(0), q.InType(3), q.OutType(0)) && RankFits(q.OutDims(0));
}

class QBinary : public KernelOf<QBinary> {
 public:
  static bool Legal(const KernelQuery& q) { return LegalFor("QBinary", q); }

  Status Resize(ResizeContext& c) override {
    sum_ = c->attrs().Text("kind") == "add";
    plan_ = cpu::MakeBroadcast<2>(c->OutDims(0), {c->InDims(0), c->InDims(3)});
    return {};
  }

  Status Run(RunContext& c) override {
    cpu::ByteOperand a = OperandOf(c, 0), b = OperandOf(c, 3);
    const cpu::ByteRange to = RangeOf(c, 6);
    if (!sum_) {
      const float multiplier = ProductMultiplier(ScaleOf(c, 1), ScaleOf(c, 4), ScaleOf(c, 6));
      cpu::ByteProduct(plan_, a, b, multiplier, to, c.Out(0).raw(), c.workers());
      return {};
    }
    const SumRatios r =
        RatiosOf(ScaleOf(c, 1), Zero(c, 2), ScaleOf(c, 4), Zero(c, 5), ScaleOf(c, 6), Zero(c, 7));
    a.ratio = r.a, b.ratio = r.b;
    cpu::ByteSum(plan_, a, b, r.rest, to, c.Out(0).raw(), c.workers());
    return {};
  }

 private:
  bool sum_ = true;
  cpu::Broadcast<2> plan_;
};

class QGlobalPool : public KernelOf<QGlobalPool> {
 public:
  static bool Legal(const KernelQuery& q) { return LegalFor("QGlobalPool", q) && !IsChannelsLast(q); }

  Status Resize(ResizeContext& c) override {
    const Dims& x = c->InDims(0);
    rows_ = CountFrom(x, 0, 2), size_ = CountFrom(x, 2, x.size());
    return {};
  }

  Status Run(RunContext& c) override {
    const float multiplier = MeanMultiplier(ScaleOf(c, 1), ScaleOf(c, 3), size_);
    cpu::ByteMeans(OperandOf(c, 0), rows_, size_, multiplier, RangeOf(c, 3), c.Out(0).raw(), c.workers());
    return {};
  }

 private:
  int64_t rows_ = 0, size_ = 1;
};

// Means of 8-bit images [N, spatial…, C].
class NhwcGlobalPool : public KernelOf<NhwcGlobalPool> {
 public:
  static bool Legal(const KernelQuery& q) {
    return LegalFor("QGlobalPool", q) && IsChannelsLast(q) && q.InRank(0) > 2;
  }

  Status Resize(ResizeContext& c) override {
    const Dims& x = c->InDims(0);
    images_ = x[0], pixels_ = CountFrom(x, 1, x.size() - 1), channels_ = x.back();
    return {};
  }

  Status Run(RunContext& c) override {
    const float multiplier = MeanMultiplier(ScaleOf(c, 1), ScaleOf(c, 3), pixels_);
    cpu::NhwcByteMeans(OperandOf(c, 0), images_, pixels_, channels_, multiplier, RangeOf(c, 3),
                       c.Out(0).raw(), c.workers());
    return {};
  }

 private:
  int64_t images_ = 0, pixels_ = 0, channels_ = 0;
};

// Maxima of 8-bit images [N, spatial…, C].
class MaxPool : public KernelOf<MaxPool> {
 public:
  static bool Legal(const KernelQuery& q) { return WhyNot(q).empty(); }
  static std::string WhyNot(const KernelQuery& q) {
    if (!IsChannelsLast(q)) return "needs channels last";
    if (!HasSupportedSpatialAxes(q)) return "needs one to three spatial axes";
    if (!q.AllTypes(DType::kU8) && !q.AllTypes(DType::kI8)) return "needs 8-bit elements";
    return q.attrs().Text("kind") == "max" && q.OutputCount() == 1 ? ""
                                                                   : "computes maxima without indices only";
  }
  static bool RowStride(const KernelQuery&) { return true; }

  Status Resize(ResizeContext& c) override {
    Window window;
    TERN_ASSIGN(shape_, WindowShape(c.query(), c->attrs().Ints("kernel"), window));
    shape_.batch = c->InDims(0)[0], shape_.channels = shape_.maps = shape_.group = c->InDims(0).back();
    row_stride_ = c.row_stride();
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::NhwcByteMaxPool(shape_, c.In(0).dtype(), c.In(0).raw(), c.Out(0).raw(), c.workers(), row_stride_);
    return {};
  }

 private:
  cpu::ConvShape shape_;
  int64_t row_stride_ = 0;
};

}  // namespace

TERN_KERNELS(QuantizedBytes) {
  table.Add<QBinary>("QBinary", "cpu.qbinary.bytes", QBinary::Legal);
  AddWithLayouts<QGlobalPool>(table, "QGlobalPool", "cpu.qglobal_pool.bytes");
  table.Add<NhwcGlobalPool>("QGlobalPool", "cpu.qglobal_pool.nhwc.i8", NhwcGlobalPool::Legal);
  table.Add<MaxPool>("Pool", "cpu.pool.nhwc.i8", MaxPool::Legal, 0.5);
}

}  // namespace tern
