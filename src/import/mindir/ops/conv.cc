// Converts convolutions. Weights are [M, C/group, kernel…] in the format NCHW, and [M, kernel…, C/group] in NHWC.
#include <algorithm>

#include "import/mindir/ops/emit.h"
#include "import/mindir/ops/window.h"

namespace tern::mindir {
namespace {

Status Conv(MindNode& n, int spatial) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, spatial + 2, spatial + 2));
  TERN_TRY(RequireRank(n, 1, spatial + 2, spatial + 2));
  if (n.Int(n.kAttribute, {"mode"}, 1) != 1) return n.NotYet("mode ", n.Int(n.kAttribute, {"mode"}));
  Emit e(n);
  const bool last = IsChannelsLast(n, n.kAttribute);
  Value* w = last ? ChannelsFirst(e, n.In(1)) : n.In(1);
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, {n.kAttribute, n.kAttribute, n.kAttribute, n.kAttribute}, spatial));
  attrs.emplace_back("dilations", SpatialPart(n.Ints(n.kAttribute, {"dilation", "dilations"}, {1}), spatial, last));
  attrs.emplace_back("group", n.Int(n.kAttribute, {"group", "groups"}, 1));
  Value* x = last ? ChannelsFirst(e, n.In(0)) : n.In(0);
  Value* y = n.b.Op("Conv", {x, w}, attrs);
  n.Out(last ? ChannelsLast(e, y) : y);
  return {};
}

}  // namespace

TERN_CONVERTERS(conv) {
  table.Add("Conv2D", [](MindNode& n) { return Conv(n, 2); });
  table.Add("Conv3D", [](MindNode& n) { return Conv(n, 3); });
}

}  // namespace tern::mindir
