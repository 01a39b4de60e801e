// Binds normalization ops to their CPU kernels.
#include "kernels/cpu/norm/norm.h"

#include "kernels/cpu/norm/group_norm_last.h"
#include "kernels/cpu/norm/lrn.h"
#include "ops/support/channels_last.h"
#include "runtime/bind/support.h"
#include "runtime/bind/via_nchw.h"

namespace tern {
namespace {

// A tensor as [batch, channels, plane]. A vector [n] becomes [n, 1, 1].
struct Planes {
  int64_t batch = 1, channels = 1, plane = 1;
};

Planes PlanesOf(const Dims& d) {
  if (d.size() < 2) return {CountOf(d), 1, 1};
  return {d[0], d[1], CountFrom(d, 2, d.size())};
}

class BatchNorm : public KernelOf<BatchNorm> {
 public:
  static bool Legal(const KernelQuery& q) { return q.AllTypes(DType::kF32); }
  Status Resize(ResizeContext& c) override {
    planes_ = PlanesOf(c->InDims(0));
    epsilon_ = c->attrs().Float("epsilon");
    c.SetScratch(static_cast<size_t>(planes_.channels) * 2 * sizeof(float));
    return {};
  }
  Status Run(RunContext& c) override {
    float *factor = c.scratch<float>(), *shift = factor + planes_.channels;
    cpu::FoldStatisticsF32(c.In<float>(1), c.In<float>(2), c.In<float>(3), c.In<float>(4), epsilon_, factor,
                           shift, planes_.channels);
    cpu::ChannelAffineF32(c.In<float>(0), factor, shift, c.Out<float>(0), planes_.batch, planes_.channels,
                          planes_.plane, c.workers());
    return {};
  }

 private:
  Planes planes_;
  float epsilon_ = 0;
};

class Scale : public KernelOf<Scale> {
 public:
  static bool Legal(const KernelQuery& q) { return q.AllTypes(DType::kF32); }
  Status Resize(ResizeContext& c) override {
    const size_t axis = AxisOf(c->attrs().Int("axis"), c->InDims(0).size());
    shape_ = AxisShapeOf(c->InDims(0), axis);
    const Dims channels = {c->InDims(0)[axis]};
    for (int i : {1, 2})
      if (c->Has(i) && c->InDims(i) != channels)
        return InvalidArgument(i == 1 ? "scale [" : "bias [", Join(c->InDims(i), ","),
                               "] does not match the ", channels[0], " elements along axis ", axis);
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::ScaleF32(c.In<float>(0), c.In<float>(1), c.Has(2) ? c.In<float>(2) : nullptr, c.Out<float>(0),
                  shape_.outer, shape_.length, shape_.inner, c.workers());
    return {};
  }

 private:
  cpu::AxisShape shape_;
};

class GroupNorm : public KernelOf<GroupNorm> {
 public:
  static bool Legal(const KernelQuery& q) { return q.AllTypes(DType::kF32) && !IsChannelsLast(q); }
  Status Resize(ResizeContext& c) override {
    planes_ = PlanesOf(c->InDims(0));
    epsilon_ = c->attrs().Float("epsilon");
    groups_ = c->op().name == "InstanceNorm" ? planes_.channels : c->attrs().Int("groups");
    return {};
  }
  Status Run(RunContext& c) override {
    if (c.Out(0).size() == 0) return {};
    cpu::GroupNormF32(c.In<float>(0), c.In<float>(1), c.In<float>(2), c.Out<float>(0), planes_.batch,
                      planes_.channels, planes_.plane, groups_, epsilon_, c.workers());
    return {};
  }

 private:
  Planes planes_;
  int64_t groups_ = 1;
  float epsilon_ = 0;
};

class GroupNormLast : public KernelOf<GroupNormLast> {
 public:
  static bool Legal(const KernelQuery& q) { return q.AllTypes(DType::kF32) && IsChannelsLast(q); }
  Status Resize(ResizeContext& c) override {
    const Planes planes = PlanesOf(ChannelOrder{true}.ToChannelsFirst(c->InDims(0)));
    norm_ = {planes.batch, planes.plane, planes.channels, planes.channels, c->attrs().Float("epsilon")};
    if (c->op().name == "GroupNorm") norm_.groups = c->attrs().Int("groups");
    c.SetScratch(norm_.Scratch());
    return {};
  }
  Status Run(RunContext& c) override {
    if (c.Out(0).size() == 0) return {};
    norm_.Run(c.In<float>(0), c.In<float>(1), c.In<float>(2), c.Out<float>(0), c.scratch<void>(),
              c.workers());
    return {};
  }

 private:
  cpu::GroupNormLast norm_;
};

class Lrn : public KernelOf<Lrn> {
 public:
  static bool Legal(const KernelQuery& q) { return q.AllTypes(DType::kF32); }
  Status Resize(ResizeContext& c) override {
    const Planes planes = PlanesOf(ChannelOrder{IsChannelsLast(c.query())}.ToChannelsFirst(c->InDims(0)));
    const Attrs& a = c->attrs();
    const int64_t size = a.Int("size");
    norm_ = {planes.batch, planes.channels, planes.plane};
    if (IsChannelsLast(c.query())) norm_.outer *= planes.plane, norm_.inner = 1;
    norm_.before = (size - 1) / 2, norm_.after = size - 1 - norm_.before;
    norm_.factor = a.Float("alpha") / static_cast<float>(size);
    norm_.beta = a.Float("beta"), norm_.bias = a.Float("bias");
    return {};
  }
  Status Run(RunContext& c) override {
    if (c.Out(0).size() > 0) norm_.Run(c.In<float>(0), c.Out<float>(0), c.workers());
    return {};
  }

 private:
  cpu::Lrn norm_;
};

size_t FirstAxis(const KernelQuery& q) { return AxisOf(q.attrs().Int("axis"), q.InDims(0).size()); }

// Returns whether input i (scale or bias) is absent or has exactly one value per normalized element.
bool Covers(const KernelQuery& q, int i) {
  if (!q.Has(i)) return true;
  const Dims &x = q.InDims(0), &s = q.InDims(i);
  const size_t normal = x.size() - FirstAxis(q);
  if (s.size() < normal) return false;
  for (size_t k = 0; k < s.size(); ++k)
    if (s[k] != (k < s.size() - normal ? 1 : x[x.size() - s.size() + k])) return false;
  return true;
}

class LayerNorm : public KernelOf<LayerNorm> {
 public:
  static bool Legal(const KernelQuery& q) { return q.AllTypes(DType::kF32) && Covers(q, 1) && Covers(q, 2); }
  Status Resize(ResizeContext& c) override {
    rms_ = c->op().name == "RmsNorm";
    const Dims& x = c->InDims(0);
    const size_t axis = FirstAxis(c.query());
    p_.rows = CountFrom(x, 0, axis), p_.n = CountFrom(x, axis, x.size());
    p_.epsilon = c->attrs().Float("epsilon");
    mean_ = c->OutType(1) != DType::kInvalid, inv_std_ = c->OutType(2) != DType::kInvalid;
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::LayerNormParams p = p_;
    p.scale = c.Has(1) ? c.In<float>(1) : nullptr;
    p.bias = c.Has(2) ? c.In<float>(2) : nullptr;
    p.mean = mean_ ? c.Out<float>(1) : nullptr;
    p.inv_std = inv_std_ ? c.Out<float>(2) : nullptr;
    (rms_ ? cpu::RmsNormF32 : cpu::LayerNormF32)(p, c.In<float>(0), c.Out<float>(0), c.workers());
    return {};
  }

 private:
  cpu::LayerNormParams p_;
  bool rms_ = false, mean_ = false, inv_std_ = false;
};

}  // namespace

TERN_KERNELS(Norm) {
  AddWithHalf<Scale>(table, "Scale", "cpu.scale.f32");
  AddWithHalf<BatchNorm>(table, "BatchNorm", "cpu.batch_norm.f32");
  AddWithHalf<GroupNorm>(table, "InstanceNorm", "cpu.instance_norm.f32");
  AddWithHalf<GroupNorm>(table, "GroupNorm", "cpu.group_norm.f32");
  AddWithHalf<GroupNormLast>(table, "InstanceNorm", "cpu.instance_norm.nhwc.f32");
  AddWithHalf<GroupNormLast>(table, "GroupNorm", "cpu.group_norm.nhwc.f32");
  AddWithHalf<Lrn>(table, "Lrn", "cpu.lrn.f32");
  AddWithHalf<LayerNorm>(table, "LayerNorm", "cpu.layer_norm.f32");
  AddWithHalf<LayerNorm>(table, "RmsNorm", "cpu.rms_norm.f32");
}

}  // namespace tern
