// Converts pooling.
#include "import/tensorflow/ops/window.h"

namespace tern::tensorflow {
namespace {

Status PoolWith(TfNode& n, const char* kind, const std::vector<int64_t>& sizes,
                const std::vector<int64_t>& steps) {
  TERN_ASSIGN(const bool first, IsChannelsFirst(n));
  TERN_ASSIGN(const auto kernel, Spatial(n, sizes, first, "ksize"));
  TERN_ASSIGN(const auto strides, Spatial(n, steps, first, "strides"));
  Value* x = WindowInput(n, 0, first);
  TERN_TRY(Status(n.b.status()));
  TERN_ASSIGN(AttrList attrs,
              WindowAttrs(n, x, kernel, first, strides, std::vector<int64_t>(kernel.size(), 1)));
  attrs.emplace_back("kind", kind);
  attrs.emplace_back("kernel", kernel);
  WindowOutput(n, 0, n.Op("Pool", {x}, attrs), first);
  return {};
}

Converter Pool(const char* kind) {
  return [kind](TfNode& n) { return PoolWith(n, kind, n.Ints("ksize"), n.Ints("strides")); };
}

Status MaxPoolV2(TfNode& n) {
  TERN_ASSIGN(const auto sizes, n.Longs(1, "ksize"));
  TERN_ASSIGN(const auto strides, n.Longs(2, "strides"));
  return PoolWith(n, "max", sizes, strides);
}

// Tern counts positions in [N, C, H, W], TensorFlow in [H, W, C] or [N, H, W, C].
Status MaxPoolWithArgmax(TfNode& n) {
  TERN_ASSIGN(const auto kernel, Spatial(n, n.Ints("ksize"), false, "ksize"));
  TERN_ASSIGN(const auto strides, Spatial(n, n.Ints("strides"), false, "strides"));
  Value* x = n.ChannelsFirst(0);
  TERN_TRY(Status(n.b.status()));
  TERN_ASSIGN(AttrList attrs,
              WindowAttrs(n, x, kernel, false, strides, std::vector<int64_t>(kernel.size(), 1)));
  attrs.emplace_back("kind", "max");
  attrs.emplace_back("kernel", kernel);
  TERN_ASSIGN(const DType to, n.DTypeAttr("Targmax"));
  const auto out = n.Ops("Pool", {x}, attrs, 2);
  Value *channels = n.Scalar(n.DimOf(x, 1)), *area = n.Scalar(n.Binary("mul", n.DimOf(x, 2), n.DimOf(x, 3)));
  Value* place = n.Binary("mod", out[1], area);
  Value* plane = n.Binary("div", out[1], area);
  Value* index = n.Binary("add", n.Binary("mul", place, channels), n.Binary("mod", plane, channels));
  if (n.Bool("include_batch_in_index")) {
    Value* sample = n.Binary("div", plane, channels);
    index = n.Binary("add", index, n.Binary("mul", sample, n.Binary("mul", area, channels)));
  }
  n.OutChannelsFirst(0, out[0]);
  n.OutChannelsFirst(1, n.Cast(index, to));
  return {};
}

}  // namespace

TERN_CONVERTERS(pool) {
  for (const char* op : {"MaxPool", "MaxPool3D"}) table.Add(op, Pool("max"));
  for (const char* op : {"AvgPool", "AvgPool3D"}) table.Add(op, Pool("average"));
  table.Add("MaxPoolV2", MaxPoolV2);
  table.Add("MaxPoolWithArgmax", MaxPoolWithArgmax);
}

}  // namespace tern::tensorflow
