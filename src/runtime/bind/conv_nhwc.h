// Base class that binds channels-last convolutions to their CPU kernels.
#pragma once
#include "runtime/bind/tile_epilogue.h"
#include "runtime/bind/window_shape.h"

namespace tern {

inline Result<cpu::ConvShape> NhwcShape(const KernelQuery& q) {
  Window window;
  TERN_ASSIGN(cpu::ConvShape s, WindowShape(q, Dims(q.InDims(1).begin() + 2, q.InDims(1).end()), window));
  s.batch = q.InDims(0)[0], s.channels = q.InDims(0).back(), s.maps = q.OutDims(0).back(),
  s.group = q.attrs().Int("group");
  return s;
}

// Returns a shape with the fields that packing needs. Weights and attributes determine these fields.
inline cpu::ConvShape WeightShape(const Dims& w, const Attrs& attrs, bool transposed) {
  cpu::ConvShape s;
  s.group = attrs.Int("group");
  s.maps = transposed ? w[1] * s.group : w[0];
  s.channels = transposed ? w[0] : w[1] * s.group;
  s.kernel = SpatialOf(Dims(w.begin() + 2, w.end()));
  s.stride = SpatialOf(attrs.Ints("strides")), s.dilation = SpatialOf(attrs.Ints("dilations"));
  return s;
}

// Returns whether this operand may be bf16 in memory. The result and the residual may be bf16 if the epilogue
// runs in registers, because it converts them there.
inline bool Bf16Result(const KernelQuery& q, int operand) {
  return (operand == KernelAbilities::kResult || operand == 3) && TileBound::InRegisters(q, {3});
}

// Base class of the channels-last kernels. Prepare packs the weights. Run applies the epilogue in registers
// if TileBound allows this, otherwise to blocks in the cache. `Work` is a class of src/kernels/cpu/conv, such
// as NhwcConv. `kTransposed` is true for ConvTranspose.
template <class T, class Work, bool kTransposed = false> class NhwcKernel : public KernelOf<T> {
 public:
  static bool Legal(const KernelQuery& q) {
    return HasSupportedSpatialAxes(q) && IsChannelsLast(q) && q.AllTypes(DType::kF32) && q.IsWeight(1) &&
           BoundEpilogue::Fits(q, 3);
  }
  // Returns which requirement of these kernels is not met, or an empty string.
  static std::string WhyNot(const KernelQuery& q) {
    if (!HasSupportedSpatialAxes(q)) return "needs one to three spatial axes";
    if (!IsChannelsLast(q)) return "needs channels last";
    if (!q.AllTypes(DType::kF32)) return "needs f32 throughout";
    if (!q.IsWeight(1)) return "needs constant weights";
    return BoundEpilogue::Fits(q, 3) ? "" : "cannot add this residual";
  }
  Status Prepare(PrepareContext& c) override {
    const Tensor& w = *c.Weight(1);
    const cpu::ConvShape s = WeightShape(w.dims(), c.attrs(), kTransposed);
    TERN_ASSIGN(packed_, c.Packed({1}, DType::kF32, {Work::PackedSize(s)}, [&](Tensor& to) {
      Work::Pack(s, w.data<const float>(), to.data<float>(), c.workers());
    }));
    return {};
  }
  Status Resize(ResizeContext& c) override {
    TERN_ASSIGN(cpu::ConvShape shape, NhwcShape(c.query()));
    if (kTransposed) shape.begin = CropOf(c->attrs(), shape, c->InRank(0) - 2);
    work_ = Work(shape);
    if constexpr (requires { work_.SetBf16Storage({}); })
      work_.SetBf16Storage({c->InType(0) == DType::kBF16, c->OutType(0) == DType::kBF16});
    if constexpr (requires { work_.SetPool(true); }) work_.SetPool(c.with_next());
    row_stride_ = c.row_stride();
    tile_ = TileBound(c.query(), {3});
    c.SetScratch(work_.Scratch(c.threads()));
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::PanelProduct p;
    tile_.Fill(c, p);
    if (c.Has(2)) p.tile.bias = c.In<float>(2);
    work_.Run({c.In<float>(0), packed_.data<const float>(), c.Out<float>(0), p.tile, p.epilogue, row_stride_},
              c.scratch<void>(), c.workers());
    return {};
  }

 private:
  Tensor packed_;
  int64_t row_stride_ = 0;
  Work work_;
  TileBound tile_;
};

// Registers T. The static members of T declare its abilities (see AbilitiesOf).
template <class T>
[[gnu::always_inline]] inline void AddNhwc(KernelTable& table, KernelName name, const char* op = "Conv") {
  if (!name.selected()) return;
  KernelEntry entry = EntryOf<T>(op, name.text(), T::Legal);
  entry.can.row_stride = [](const KernelQuery& q) { return !q.Has(3) && TileBound::InRegisters(q, {3}); };
  if (entry.can.pack.empty()) entry.can.pack = entry.name;
  table.Add(std::move(entry));
}

}  // namespace tern
