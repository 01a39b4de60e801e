// Converts poolings.
#include "import/mindir/ops/emit.h"
#include "import/mindir/ops/window.h"

namespace tern::mindir {
namespace {

// MaxPool and AvgPool. The arguments of AvgPool are inputs since version 2: x, kernel_size, strides, pad_mode,
// data_format.
Status Pool(MindNode& n, const char* kind, int spatial) {
  TERN_TRY(Require(n, 0));
  TERN_TRY(RequireRank(n, 0, spatial + 2, spatial + 2));
  const bool last = IsChannelsLast(n, 4);
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, {2, 3, n.kAttribute, 4}, spatial));
  attrs.emplace_back("kind", kind);
  attrs.emplace_back("kernel", SpatialPart(n.Ints(1, {"kernel_size"}, {1}), spatial, last));
  attrs.emplace_back("channels_last", last);
  attrs.emplace_back("ceil_mode", n.Int(n.kAttribute, {"ceil_mode"}, 0) > 0);
  attrs.emplace_back("count_include_pad", n.Bool(n.kAttribute, {"count_include_pad"}, true));
  if (n.Int(n.kAttribute, {"divisor_override"}, 0) != 0) return n.NotYet("divisor_override");
  n.Out(n.b.Op("Pool", {n.In(0)}, attrs));
  return {};
}

}  // namespace

TERN_CONVERTERS(pool) {
  table.Add("MaxPool", [](MindNode& n) { return Pool(n, "max", 2); });
  table.Add("MaxPool3D", [](MindNode& n) { return Pool(n, "max", 3); });
  table.Add("AvgPool3D", [](MindNode& n) { return Pool(n, "average", 3); });
  // Pads of AvgPool do not count.
  table.Add("AvgPool", [](MindNode& n) { return Pool(n, "average", 2); });
}

}  // namespace tern::mindir
