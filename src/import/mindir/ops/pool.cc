// Converts poolings.
#include <algorithm>

#include "import/mindir/ops/emit.h"
#include "import/mindir/ops/window.h"

namespace tern::mindir {
namespace {

// MaxPool and AvgPool. The arguments of AvgPool are inputs since version 2: x, kernel_size, strides,
// pad_mode, data_format. `numbers_last` says whether the channels are the last axis in kernel_size and
// strides. This order of axes does not depend on the format.
Status Pool(MindNode& n, const char* kind, int spatial, bool numbers_last = false) {
  TERN_TRY(Require(n, 0));
  TERN_TRY(RequireRank(n, 0, spatial + 2, spatial + 2));
  const bool last = IsChannelsLast(n, 4);
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, {2, 3, n.kAttribute}, spatial, numbers_last));
  attrs.emplace_back("kind", kind);
  attrs.emplace_back("kernel", SpatialPart(n.Ints(1, {"kernel_size", "ksize"}, {1}), spatial, numbers_last));
  attrs.emplace_back("channels_last", last);
  attrs.emplace_back("ceil_mode", n.Int(n.kAttribute, {"ceil_mode"}, 0) > 0);
  attrs.emplace_back("count_include_pad", n.Bool(n.kAttribute, {"count_include_pad"}, false));
  if (n.Int(n.kAttribute, {"divisor_override"}, 0) != 0) return n.NotYet("divisor_override");
  n.Out(n.b.Op("Pool", {n.In(0)}, attrs));
  return {};
}

// Returns the pads at the starts and at the ends of the axes. MindSpore lists one pad per axis, which applies
// to both ends.
std::vector<int64_t> BothEnds(std::vector<int64_t> pads, int spatial) {
  pads = SpatialPart(pads, spatial, false);
  std::vector<int64_t> both = pads;
  both.insert(both.end(), pads.begin(), pads.end());
  return both;
}

// Returns the attributes kind, kernel, strides and pads. The arguments kernel, strides and pads are inputs
// from `first` on, or attributes if `first` is negative.
AttrList KernelAttrs(MindNode& n, const char* kind, int spatial, int first) {
  const auto at = [&](int i) { return first < 0 ? n.kAttribute : first + i; };
  const auto kernel = n.Ints(at(0), {"kernel_size", "ksize"}, {1});
  return {{"kind", kind},
          {"kernel", SpatialPart(kernel, spatial, false)},
          {"strides", SpatialPart(n.Ints(at(1), {"strides", "stride"}, kernel), spatial, false)},
          {"pads", BothEnds(n.Ints(at(2), {"pads", "padding"}, {0}), spatial)}};
}

// Returns a converter for max poolings that also return the index of the maximum. Tern's index refers to the
// entire tensor, so a model that uses the index is refused.
Converter MaxPoolWithIndex(int spatial, int first) {
  return [=](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0));
    TERN_TRY(RequireRank(n, 0, spatial + 1, spatial + 2));
    AttrList attrs = KernelAttrs(n, "max", spatial, first);
    attrs.emplace_back(
        "dilations",
        SpatialPart(n.Ints(first < 0 ? n.kAttribute : first + 3, {"dilation"}, {1}), spatial, false));
    attrs.emplace_back("ceil_mode", n.Bool(first < 0 ? n.kAttribute : first + 4, {"ceil_mode"}));
    Emit e(n);
    const bool single = n.RankOf(0) == spatial + 1;
    Value* x = single ? e.Unsqueeze(n.In(0), {0}) : n.In(0);
    Value* y = n.b.Op("Pool", {x}, attrs);
    n.OutItem(Item::Tuple(
        {Item::Of(single ? e.Squeeze(y, {0}) : y), Item::Text(StrCat("the indices of ", n.op()))}));
    return {};
  };
}

// Inputs of AvgPool1D and others: x, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override.
Converter AvgPoolExt(int spatial) {
  return [spatial](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kFloats));
    TERN_TRY(RequireRank(n, 0, spatial + 1, spatial + 2));
    if (n.Int(6, {"divisor_override"}, 0) != 0) return n.NotYet("divisor_override");
    AttrList attrs = KernelAttrs(n, "average", spatial, 1);
    attrs.emplace_back("ceil_mode", n.Bool(4, {"ceil_mode"}));
    attrs.emplace_back("count_include_pad", n.Bool(5, {"count_include_pad"}, true));
    Emit e(n);
    const bool single = n.RankOf(0) == spatial + 1;
    Value* y = n.b.Op("Pool", {single ? e.Unsqueeze(n.In(0), {0}) : n.In(0)}, attrs);
    n.Out(single ? e.Squeeze(y, {0}) : y);
    return {};
  };
}

// Pools one axis to `wanted` elements. Window i is [floor(i * size / wanted), ceil((i + 1) * size / wanted)).
Value* AdaptAxis(Emit& e, Value* x, const char* kind, int64_t axis, int64_t size, int64_t wanted) {
  std::vector<Value*> parts;
  for (int64_t i = 0; i < wanted; ++i) {
    const int64_t start = i * size / wanted, end = ((i + 1) * size + wanted - 1) / wanted;
    parts.push_back(e.Reduce(kind, e.Slice(x, start, end, axis), {axis}, true));
  }
  return parts.size() == 1 ? parts[0] : e.Concat(parts, axis);
}

// Returns x, pooled to the given sizes of its last axes. A size of -1 keeps the axis.
Result<Value*> Adapt(MindNode& n, bool max, int spatial) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, spatial + 1, spatial + 2));
  auto wanted = n.Ints(1, {"output_size"}, {1});
  if (wanted.size() == 1) wanted.assign(static_cast<size_t>(spatial), wanted[0]);
  if (wanted.size() != static_cast<size_t>(spatial))
    return n.Bad("output_size has ", wanted.size(), " numbers");
  Emit e(n);
  Value* y = n.In(0);
  const char* kind = max ? "max" : "mean";
  const bool global = std::all_of(wanted.begin(), wanted.end(), [](int64_t w) { return w == 1; });
  if (global && n.RankOf(0) == spatial + 2)
    return n.b.Op("GlobalPool", {y}, {{"kind", max ? "max" : "average"}});
  std::vector<int64_t> kernel;
  bool regular = n.RankOf(0) == spatial + 2;
  for (int i = 0; i < spatial; ++i) {
    const Dim size = y->type.shape[n.RankOf(0) - spatial + i];
    int64_t& w = wanted[static_cast<size_t>(i)];
    if (w < 0 && size.known()) w = size.value();
    if (w == 1 && !size.known()) {
      regular = false;
      continue;
    }
    if (w < 0 || !size.known()) return n.NotYet("output_size ", w, " for an axis of size ", size.ToString());
    if (w < 1 || w > 4096 || size.value() > int64_t{1} << 46)
      return n.Bad("output_size ", w, " for an axis of size ", size.value());
    regular = regular && size.value() % w == 0 && size.value() >= w;
    kernel.push_back(size.value() / w);
  }
  if (regular)
    return n.b.Op("Pool", {y}, {{"kind", max ? "max" : "average"}, {"kernel", kernel}, {"strides", kernel}});
  for (int i = 0; i < spatial; ++i) {
    const int64_t axis = n.RankOf(0) - spatial + i, w = wanted[static_cast<size_t>(i)];
    const Dim size = y->type.shape[static_cast<int>(axis)];
    y = w == 1 ? e.Reduce(kind, y, {axis}, true) : AdaptAxis(e, y, kind, axis, size.value(), w);
  }
  return y;
}

Converter Adaptive(bool max, int spatial) {
  return [=](MindNode& n) -> Status {
    TERN_ASSIGN(Value * y, Adapt(n, max, spatial));
    if (max && n.op() != "AdaptiveMaxPool1DExt")
      n.OutItem(Item::Tuple({Item::Of(y), Item::Text(StrCat("the indices of ", n.op()))}));
    else
      n.Out(y);
    return {};
  };
}

// Converts MaxPoolWithArgmax. Its attributes strides and kernel_size are [1, h, w, 1], and pad_mode is same
// or valid.
Status MaxPoolWithArgmax(MindNode& n) {
  TERN_TRY(Pool(n, "max", 2, true));
  n.OutItem(Item::Tuple({n.result(), Item::Text("the indices of MaxPoolWithArgmax")}));
  return {};
}

}  // namespace

TERN_CONVERTERS(pool) {
  table.Add("MaxPool", [](MindNode& n) { return Pool(n, "max", 2); });
  table.Add("MaxPool3D", [](MindNode& n) { return Pool(n, "max", 3); });
  table.Add("AvgPool", [](MindNode& n) { return Pool(n, "average", 2); });
  table.Add("AvgPool3D", [](MindNode& n) { return Pool(n, "average", 3); });
  table.Add("MaxPoolWithArgmax", MaxPoolWithArgmax);
  table.Add("MaxPoolWithArgmaxV2", MaxPoolWithIndex(2, MindNode::kAttribute));
  table.Add("MaxPool3DWithArgmax", MaxPoolWithIndex(3, MindNode::kAttribute));
  for (const char* name : {"MaxPoolWithMask", "MaxPoolWithIndices", "FuncMaxPool2D"})
    table.Add(name, MaxPoolWithIndex(2, 1));
  table.Add("AvgPool1D", AvgPoolExt(1));
  table.Add("AvgPool2D", AvgPoolExt(2));
  table.Add("AvgPool3DExt", AvgPoolExt(3));
  table.Add("AdaptiveAvgPool1D", Adaptive(false, 1));
  for (const char* name : {"AdaptiveAvgPool2D", "AdaptiveAvgPool2DExt"}) table.Add(name, Adaptive(false, 2));
  for (const char* name : {"AdaptiveAvgPool3D", "AdaptiveAvgPool3DExt"}) table.Add(name, Adaptive(false, 3));
  table.Add("AdaptiveMaxPool1D", Adaptive(true, 1));
  table.Add("AdaptiveMaxPool2D", Adaptive(true, 2));
}

}  // namespace tern::mindir
