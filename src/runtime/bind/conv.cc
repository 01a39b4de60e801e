// Binds convolutions over [N, C, spatial…] to their CPU kernels.
#include <algorithm>

#include "runtime/bind/conv_work.h"
#include "runtime/bind/epilogue.h"
#include "runtime/bind/via_nchw.h"
#include "runtime/bind/window_shape.h"

namespace tern {
namespace {

Result<cpu::ConvShape> ShapeOf(const KernelQuery& q) {
  Window window;
  TERN_ASSIGN(cpu::ConvShape s, WindowShape(q, Dims(q.InDims(1).begin() + 2, q.InDims(1).end()), window));
  s.batch = q.InDims(0)[0], s.channels = q.InDims(0)[1], s.maps = q.OutDims(0)[1],
  s.group = q.attrs().Int("group");
  return s;
}

class Conv : public KernelOf<Conv> {
 public:
  // For f16 and bf16, only 1x1 convolutions are legal, because im2col would convert each element once per
  // tap.
  static bool Legal(const KernelQuery& q) {
    const Dims& w = q.InDims(1);
    if (BitWidth(q.OutType(0)) == 16 && CountOf(Dims(w.begin() + 2, w.end())) != 1) return false;
    return HasSupportedSpatialAxes(q) && !IsChannelsLast(q) &&
           cpu::GemmTypes(q.InType(0), q.InType(1), q.OutType(0)) &&
           (!q.Has(2) || q.InType(2) == q.OutType(0)) && BoundEpilogue::Fits(q, 3);
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = ShapeOf(q);
    return s.ok() ? std::vector<Work>{Im2colWork("im2col_nchw", *s)} : std::vector<Work>();
  }
  Status Resize(ResizeContext& c) override {
    TERN_ASSIGN(const cpu::ConvShape shape, ShapeOf(c.query()));
    conv_ = cpu::ConvAsGemm(shape, c->InType(0), c->InType(1), c->OutType(0));
    epilogue_ = BoundEpilogue(c.query(), {3});
    c.SetScratch(conv_.Scratch(c.threads()));
    return {};
  }
  Status Run(RunContext& c) override {
    conv_.Run(c.In(0).raw(), c.In(1).raw(), c.Has(2) ? c.In(2).raw() : nullptr, epilogue_.For(c),
              c.Out(0).raw(), c.scratch<void>(), c.workers());
    return {};
  }

 private:
  cpu::ConvAsGemm conv_;
  BoundEpilogue epilogue_;
};

class Depthwise : public KernelOf<Depthwise> {
 public:
  static bool Legal(const KernelQuery& q) {
    return HasSupportedSpatialAxes(q) && !IsChannelsLast(q) && q.AllTypes(DType::kF32) &&
           q.InDims(1)[1] == 1 && q.attrs().Int("group") > 1;
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = ShapeOf(q);
    return s.ok() ? std::vector<Work>{DepthwiseWork("depthwise_planes", *s)} : std::vector<Work>();
  }
  Status Resize(ResizeContext& c) override {
    TERN_ASSIGN(shape_, ShapeOf(c.query()));
    epilogue_ = BoundEpilogue(c.query(), {3});
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::DepthwiseF32(shape_, c.In<float>(0), c.In<float>(1), c.Has(2) ? c.In<float>(2) : nullptr,
                      epilogue_.For(c), c.Out<float>(0), c.workers());
    return {};
  }

 private:
  cpu::ConvShape shape_;
  BoundEpilogue epilogue_;
};

class ConvTranspose : public KernelOf<ConvTranspose> {
 public:
  static bool Legal(const KernelQuery& q) {
    return HasSupportedSpatialAxes(q) && !IsChannelsLast(q) && q.AllTypes(DType::kF32);
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = ShapeOf(q);
    return s.ok() ? std::vector<Work>{ConvTransposeWork("transposed_col2im", *s, true)} : std::vector<Work>();
  }
  Status Resize(ResizeContext& c) override {
    TERN_ASSIGN(cpu::ConvShape s, ShapeOf(c.query()));
    s.begin = CropOf(c->attrs(), s, c->InRank(0) - 2);
    conv_ = cpu::ConvTransposeF32(s);
    epilogue_ = BoundEpilogue(c.query(), {3});
    c.SetScratch(conv_.Scratch(c.threads()));
    return {};
  }
  Status Run(RunContext& c) override {
    conv_.Run(c.In<float>(0), c.In<float>(1), c.Has(2) ? c.In<float>(2) : nullptr, epilogue_.For(c),
              c.Out<float>(0), c.scratch<void>(), c.workers());
    return {};
  }

 private:
  cpu::ConvTransposeF32 conv_;
  BoundEpilogue epilogue_;
};

}  // namespace

TERN_KERNELS(Conv) {
  AddWithLayouts<Depthwise>(table, "Conv", "cpu.conv.depthwise.f32");
  AddWithLayouts<Conv>(table, "Conv", "cpu.conv.gemm");
  AddWithLayouts<ConvTranspose>(table, "ConvTranspose", "cpu.conv_transpose.f32");
}

}  // namespace tern
