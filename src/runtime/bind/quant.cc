// Binds Quantize and Dequantize to their CPU kernels.
#include "kernels/cpu/quant/quant.h"

#include "runtime/bind/support.h"
#include "runtime/bind/via_f32.h"

namespace tern {
namespace {

cpu::QuantShape ShapeOf(const KernelQuery& q) {
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
    shape_ = ShapeOf(c.query());
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
    shape_ = ShapeOf(c.query());
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

}  // namespace

TERN_KERNELS(Quant) {
  AddWithHalf<Quantize>(table, "Quantize", "cpu.quantize");
  AddWithHalf<Dequantize>(table, "Dequantize", "cpu.dequantize");
}

}  // namespace tern
