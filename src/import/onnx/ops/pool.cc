// Converts pooling operators.
#include "import/onnx/ops/window_attrs.h"
#include "import/onnx/require.h"

namespace tern::onnx {
namespace {

// Returns attribute p, the exponent of LpPool. In version 1 it is a float, later an integer.
double Exponent(const OnnxNode& n) {
  return n.opset < 2 ? n.Float("p", 2) : static_cast<double>(n.Int("p", 2));
}

Status Pool(OnnxNode& n, const char* kind) {
  TERN_TRY(Require(n, 0));
  const auto kernel = n.Ints("kernel_shape");
  if (kernel.empty()) return n.Bad("attribute 'kernel_shape' is missing");
  const bool ceil_mode = n.Int("ceil_mode") != 0;
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, n.In(0)->type.shape, {kernel.begin(), kernel.end()}, ceil_mode));
  attrs.insert(attrs.end(), {{"kind", kind},
                             {"kernel", kernel},
                             {"ceil_mode", ceil_mode},
                             {"count_include_pad", n.Int("count_include_pad") != 0},
                             {"column_major", n.Int("storage_order") != 0}});
  if (std::string_view(kind) == "lp") attrs.emplace_back("p", Exponent(n));
  n.Out(n.b.Ops("Pool", {n.In(0)}, attrs, n.Wants(1) ? 2 : 1));
  return {};
}

Status GlobalPool(OnnxNode& n, const char* kind) {
  n.Out(0, n.b.Op("GlobalPool", {n.In(0)}, {{"kind", kind}, {"p", Exponent(n)}}));
  return {};
}

Status MaxUnpool(OnnxNode& n) {
  const AttrList attrs = {
      {"kernel", n.Ints("kernel_shape")}, {"strides", n.Ints("strides")}, {"pads", n.Ints("pads")}};
  n.Out(0, n.b.Op("MaxUnpool", {n.In(0), n.In(1), n.In(2)}, attrs));
  return {};
}

}  // namespace

TERN_CONVERTERS(pool) {
  table.Add("MaxPool", [](OnnxNode& n) { return Pool(n, "max"); });
  table.Add("AveragePool", [](OnnxNode& n) { return Pool(n, "average"); });
  table.Add("LpPool", [](OnnxNode& n) { return Pool(n, "lp"); });
  table.Add("MaxUnpool", MaxUnpool);
  table.Add("GlobalMaxPool", [](OnnxNode& n) { return GlobalPool(n, "max"); });
  table.Add("GlobalAveragePool", [](OnnxNode& n) { return GlobalPool(n, "average"); });
  table.Add("GlobalLpPool", [](OnnxNode& n) { return GlobalPool(n, "lp"); });
}

}  // namespace tern::onnx
