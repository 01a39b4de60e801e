// Binds Quantize, Dequantize, Requantize and DynamicScale to their CPU kernels.
#include "kernels/cpu/quant/quant.h"

#include "ops/quant/dynamic_range.h"
#include "runtime/bind/support.h"
#include "runtime/bind/via_f32.h"

namespace tern {
namespace {

cpu::QuantShape QuantShapeOf(const KernelQuery& q) {
  const Dims& x = q.InDims(0);
  cpu::QuantShape s;
  s.block = q.attrs().Int("block_size");
  s.single = s.block == 0 && CountOf(q.InDims(1)) == 1;
  if (s.single) {
    s.inner = CountOf(x);
    return s;
  }
  const cpu::AxisShape axis = AxisShapeOf(x, AxisOf(q.attrs().Int("axis"), x.size()));
  s.outer = axis.outer, s.length = axis.length, s.inner = axis.inner;
  return s;
}

class Quantize : public KernelOf<Quantize> {
 public:
  static bool Legal(const KernelQuery& q) {
    const DType precision = q.attrs().Type("precision");
    return q.InType(0) == DType::kF32 && q.InType(1) == DType::kF32 && cpu::HasQuant(q.OutType(0)) &&
           (precision == DType::kInvalid || precision == DType::kF32);
  }
  Status Resize(ResizeContext& c) override {
    shape_ = QuantShapeOf(c.query());
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::QuantizeF32(shape_, c.Out(0).dtype(), c.In<float>(0), c.In<float>(1),
                     c.Has(2) ? c.In(2).raw() : nullptr, c.Out(0).raw(), c.workers());
    return {};
  }

 private:
  cpu::QuantShape shape_;
};

class Dequantize : public KernelOf<Dequantize> {
 public:
  static bool Legal(const KernelQuery& q) {
    return (cpu::HasQuant(q.InType(0)) || q.InType(0) == DType::kI32) && q.InType(1) == DType::kF32 &&
           q.OutType(0) == DType::kF32;
  }
  Status Resize(ResizeContext& c) override {
    shape_ = QuantShapeOf(c.query());
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::DequantizeF32(shape_, c.In(0).dtype(), c.In(0).raw(), c.In<float>(1),
                       c.Has(2) ? c.In(2).raw() : nullptr, c.Out<float>(0), c.workers());
    return {};
  }

 private:
  cpu::QuantShape shape_;
};

// Dequantizes tiles to f32 and quantizes them.
class Requantize : public KernelOf<Requantize> {
 public:
  static bool Legal(const KernelQuery& q) {
    return cpu::HasQuant(q.InType(0)) && cpu::HasQuant(q.OutType(0));
  }
  Status Resize(ResizeContext&) override { return {}; }
  Status Run(RunContext& c) override {
    cpu::Requantize(c.Out(0).size(), Source(c), {c.Out(0).dtype(), c.In<float>(3)[0], Zero(c, 4)},
                    c.Out(0).raw(), c.workers());
    return {};
  }

 private:
  static float Zero(const RunContext& c, int i) {
    return c.Has(i) ? static_cast<float>(LoadLong(c.In(i), 0)) : 0;
  }
  static cpu::QuantSource Source(const RunContext& c) {
    return {{c.In(0).dtype(), c.In<float>(1)[0], Zero(c, 2)}, c.In(0).raw()};
  }
};

class DynamicScale : public KernelOf<DynamicScale> {
 public:
  static bool Legal(const KernelQuery& q) { return q.InType(0) == DType::kF32; }
  Status Resize(ResizeContext&) override { return {}; }
  Status Run(RunContext& c) override {
    const cpu::FloatRange x = cpu::RangeOf(c.In<float>(0), c.In(0).size(), c.workers());
    const DynamicRange range = DynamicRangeOf(x.low, x.high);
    c.Out<float>(0)[0] = range.scale;
    c.Out<uint8_t>(1)[0] = static_cast<uint8_t>(range.zero);
    return {};
  }
};

}  // namespace

TERN_KERNELS(Quant) {
  table.Add<DynamicScale>("DynamicScale", "cpu.dynamic_scale", DynamicScale::Legal);
  table.Add<Requantize>("Requantize", "cpu.requantize", Requantize::Legal);
  AddWithHalf<Quantize>(table, "Quantize", "cpu.quantize");
  AddWithHalf<Dequantize>(table, "Dequantize", "cpu.dequantize");
}

}  // namespace tern
