// Binds Col2Im to its CPU kernel.
#include "kernels/cpu/conv/col2im.h"

#include "ops/image/col2im.h"
#include "runtime/bind/via_f32.h"
#include "runtime/bind/window_shape.h"

namespace tern {
namespace {

class Col2Im : public KernelOf<Col2Im> {
 public:
  static bool Legal(const KernelQuery& q) {
    if (q.InType(0) != DType::kF32 || q.InRank(0) != 3 || !q.Known(1) || !q.Known(2)) return false;
    return q.Known(1)->size() >= 1 && q.Known(1)->size() <= 3;
  }
  Status Resize(ResizeContext& c) override {
    const Dims image = ToLongs(*c->Known(1)), block = ToLongs(*c->Known(2)), &x = c->InDims(0);
    const Attrs& a = c->attrs();
    Col2ImGeometry g{a.Ints("dilations"), a.Ints("pads"), a.Ints("strides")};
    TERN_ASSIGN(const Dims counts, Col2ImBlocks(g, x, image, block));
    shape_ = {};
    shape_.batch = x[0], shape_.channels = x[1] / CountOf(block);
    shape_.input = SpatialOf(counts), shape_.kernel = SpatialOf(block), shape_.output = SpatialOf(image);
    shape_.stride = SpatialOf(g.strides), shape_.dilation = SpatialOf(g.dilations);
    for (size_t i = 0; i < image.size(); ++i) shape_.begin[3 - image.size() + i] = g.pads[i];
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::Col2ImF32(shape_, c.In<float>(0), c.Out<float>(0), c.workers());
    return {};
  }

 private:
  cpu::ConvShape shape_;
};

}  // namespace

TERN_KERNELS(Col2Im) { AddWithHalf<Col2Im>(table, "Col2Im", "cpu.col2im.f32"); }

}  // namespace tern
