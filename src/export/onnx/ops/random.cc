#include "export/onnx/exporter.h"

namespace tern::onnx {
namespace {

// Emits RandomUniformLike or RandomNormalLike on a tensor of the given shape. RandomUniform and RandomNormal
// cannot be used, because their shape is an attribute. The shape of Tern's Random may be computed at run
// time.
Status Random(TernNode& n) {
  const bool uniform = n.attrs().Text("kind") == "uniform";
  const double a = n.attrs().Float("a"), b = n.attrs().Float("b");
  AttrList attrs = {
      {"dtype", n.attrs().Type("dtype")}, {uniform ? "low" : "mean", a}, {uniform ? "high" : "scale", b}};
  if (n.attrs().Bool("seeded")) attrs.emplace_back("seed", static_cast<double>(n.attrs().Float("seed")));
  std::string shape = n.In(0);
  if (n.TypeOf(0).dtype == DType::kI32) shape = n.Op("Cast", {shape}, {{"to", DType::kI64}});
  n.Emit(uniform ? "RandomUniformLike" : "RandomNormalLike", {n.Op("ConstantOfShape", {shape})}, n.Outs(),
         attrs);
  return {};
}

}  // namespace

TERN_EXPORTERS(random) { table.Add("Random", Random); }

}  // namespace tern::onnx
