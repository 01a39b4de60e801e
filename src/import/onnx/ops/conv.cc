// Convolutions.
#include "import/onnx/ops/window_attrs.h"

namespace tern::onnx {
namespace {

Status Conv(OnnxNode& n) {
  TERN_ASSIGN(auto kernel, KernelOf(n, n.In(1)->type.shape));
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, n.In(0)->type.shape, kernel));
  attrs.emplace_back("group", n.Int("group", 1));
  n.Out(0, n.b.Op("Conv", {n.In(0), n.In(1), n.In(2)}, attrs));
  return {};
}

}  // namespace

TERN_CONVERTERS(conv) {
  table.Add("Conv", Conv);
}

}  // namespace tern::onnx
