// Converts element-wise functions.
#include "import/mindir/ops/emit.h"

namespace tern::mindir {
namespace {

Converter Unary(const char* kind) {
  return [kind](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0));
    n.Out(n.b.Op("Unary", {n.In(0)}, {{"kind", kind}}));
    return {};
  };
}

}  // namespace

TERN_CONVERTERS(elementwise) {
  table.Add("ReLU", Unary("relu"));
}

}  // namespace tern::mindir
