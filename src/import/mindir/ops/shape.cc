// Converts primitives that change the shape.
#include "import/mindir/ops/emit.h"

namespace tern::mindir {
namespace {

Status Flatten(MindNode& n) {
  n.Out(n.b.Op("Flatten", {n.In(0)}, {{"axis", 1}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(shape) {
  table.Add("Flatten", Flatten);
}

}  // namespace tern::mindir
