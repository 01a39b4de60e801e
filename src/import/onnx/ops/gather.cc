// Converts gather and scatter operators, and operators whose output size depends on the data.
#include "import/onnx/converter.h"

namespace tern::onnx {
namespace {

// Returns the attributes of an operator that flattens x if no axis is given.
AttrList FlattenOrAxis(OnnxNode& n) { return {{"flatten", !n.HasAttr("axis")}, {"axis", n.Int("axis")}}; }

Status Compress(OnnxNode& n) {
  n.Out(0, n.b.Op("Compress", {n.In(0), n.In(1)}, FlattenOrAxis(n)));
  return {};
}

Status Unique(OnnxNode& n) {
  AttrList attrs = FlattenOrAxis(n);
  attrs.emplace_back("sorted", n.Int("sorted", 1) != 0);
  n.Out(n.b.Ops("Unique", {n.In(0)}, attrs, n.OutputCount()));
  return {};
}

Status EyeLike(OnnxNode& n) {
  TERN_ASSIGN(const DType dtype, n.DTypeAttr("dtype", DType::kInvalid));
  n.Out(0, n.b.Op("EyeLike", {n.In(0)}, {{"dtype", dtype}, {"k", n.Int("k")}}));
  return {};
}

Status Trilu(OnnxNode& n) {
  n.Out(0, n.b.Op("Trilu", {n.In(0), n.In(1)}, {{"upper", n.Int("upper", 1) != 0}}));
  return {};
}

Status SpaceToDepth(OnnxNode& n) {
  if (const std::string mode = n.Text("mode", "DCR"); mode != "DCR")
    return n.Bad("mode must be DCR, got '", mode, "'");
  n.Out(0, n.b.Op("SpaceToDepth", {n.In(0)}, {{"block", n.Int("blocksize")}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(gather) {
  table.Add("GatherElements", Direct("GatherElements", {"axis"}));
  table.Add("GatherND", Direct("GatherND", {"batch_dims"}));
  table.Add("Scatter", Direct("ScatterElements", {"axis"}));
  table.Add("ScatterElements", Direct("ScatterElements", {"axis", "reduction"}));
  table.Add("ScatterND", Direct("ScatterND", {"reduction"}));
  table.Add("TensorScatter", Direct("TensorScatter", {"axis", "mode"}));
  table.Add("OneHot", Direct("OneHot", {"axis"}));
  table.Add("NonZero", Direct("NonZero"));
  table.Add("Compress", Compress);
  table.Add("Unique", Unique);
  table.Add("EyeLike", EyeLike);
  table.Add("Trilu", Trilu);
  table.Add("DepthToSpace", Direct("DepthToSpace", {"blocksize=block", "mode"}));
  table.Add("SpaceToDepth", SpaceToDepth);
  table.Add("ReverseSequence", Direct("ReverseSequence", {"time_axis", "batch_axis"}));
  table.Add("CenterCropPad", Direct("CenterCropPad", {"axes"}));
}

}  // namespace tern::onnx
