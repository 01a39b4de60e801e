// Converts operators that move, repeat or pad elements, that return shapes, or that create tensors from a
// shape or a range.
#include "import/onnx/converter.h"

namespace tern::onnx {
namespace {

// Returns a list that is an attribute before opset `since`, and an input from that opset on. Returns null if
// it is absent.
Value* ListInput(OnnxNode& n, int input, const char* attr, int since) {
  if (n.opset >= since) return n.In(input);
  return n.HasAttr(attr) ? n.b.Ints(n.Ints(attr)) : nullptr;
}

Status Squeeze(OnnxNode& n) {
  n.Out(0, n.b.Op("Squeeze", {n.In(0), ListInput(n, 1, "axes", 13)}));
  return {};
}

Status Unsqueeze(OnnxNode& n) {
  Value* axes = ListInput(n, 1, "axes", 13);
  if (!axes) return n.Bad("axes are missing");
  n.Out(0, n.b.Op("Unsqueeze", {n.In(0), axes}));
  return {};
}

Status Concat(OnnxNode& n) {
  if (n.opset >= 4 && !n.HasAttr("axis")) return n.Bad("attribute 'axis' is missing");
  std::vector<Value*> inputs;
  for (int i = 0; i < n.InputCount(); ++i) inputs.push_back(n.In(i));
  n.Out(0, n.b.Op("Concat", inputs, {{"axis", n.Int("axis", 1)}}));
  return {};
}

Status Split(OnnxNode& n) {
  Value* sizes = n.In(1);
  if (n.opset < 13 && n.HasAttr("split")) sizes = n.b.Ints(n.Ints("split"));
  n.Out(n.b.Ops("Split", {n.In(0), sizes}, {{"axis", n.Int("axis")}, {"num_outputs", n.Int("num_outputs")}},
                n.OutputCount()));
  return {};
}

Status Slice(OnnxNode& n) {
  if (n.opset >= 10) {
    n.Out(0, n.b.Op("Slice", {n.In(0), n.In(1), n.In(2), n.In(3), n.In(4)}));
    return {};
  }
  Value* axes = n.HasAttr("axes") ? n.b.Ints(n.Ints("axes")) : nullptr;
  n.Out(0, n.b.Op("Slice", {n.In(0), n.b.Ints(n.Ints("starts")), n.b.Ints(n.Ints("ends")), axes}));
  return {};
}

Status Pad(OnnxNode& n) {
  const AttrList mode = {{"mode", n.Text("mode", "constant")}};
  if (n.opset >= 11) {
    n.Out(0, n.b.Op("Pad", {n.In(0), n.In(1), n.In(2), n.In(3)}, mode));
    return {};
  }
  const char* attr = n.opset == 1 ? "paddings" : "pads";
  if (!n.HasAttr(attr)) return n.Bad("attribute '", attr, "' is missing");
  Value* value =
      n.HasAttr("value") && IsFloat(n.TypeOf(0)) ? n.b.Scalar(n.TypeOf(0), n.Float("value")) : nullptr;
  n.Out(0, n.b.Op("Pad", {n.In(0), n.b.Ints(n.Ints(attr)), value}, mode));
  return {};
}

// Before version 6, the operator tiles a single axis, which is input 2.
Status TileOneAxis(OnnxNode& n) {
  const auto axis = n.Constant(2)
                        ? std::optional<int64_t>(static_cast<int64_t>(LoadDouble(*n.Constant(2), 0)))
                        : std::nullopt;
  if (!axis || n.RankOf(0) < 0)
    return n.NotYet("version 1 of Tile with an axis that is not constant, or with an input of unknown rank");
  const int rank = n.RankOf(0);
  if (*axis < 0 || *axis >= rank)
    return n.Bad("axis ", *axis, " is outside [0, ", rank, ") of a rank-", rank, " tensor");
  Value* tiles = n.b.Op("Reshape", {n.b.Op("Cast", {n.In(1)}, {{"to", DType::kI64}}), n.b.Ints({1})});
  Value* before = n.b.Ints(std::vector<int64_t>(static_cast<size_t>(*axis), 1));
  Value* after = n.b.Ints(std::vector<int64_t>(static_cast<size_t>(rank - 1 - *axis), 1));
  n.Out(0, n.b.Op("Tile", {n.In(0), n.b.Op("Concat", {before, tiles, after}, {{"axis", int64_t{0}}})}));
  return {};
}

Status Tile(OnnxNode& n) {
  if (n.opset < 6) return TileOneAxis(n);
  n.Out(0, n.b.Op("Tile", {n.In(0), n.In(1)}));
  return {};
}

Status ConstantOfShape(OnnxNode& n) {
  Tensor value = Tensor::Scalar(DType::kF32, 0);
  if (n.HasAttr("value")) {
    TERN_ASSIGN(value, n.TensorAttr("value"));
  }
  if (value.size() != 1) return n.Bad("value must have one element, got ", value.Describe());
  n.Out(0, n.b.Op("Fill", {n.In(0)}, {{"value", value.Reshaped({})}}));
  return {};
}

// ConstantFill is an experimental operator that occurs in old files. ONNX no longer specifies it.
Status ConstantFill(OnnxNode& n) {
  TERN_ASSIGN(const DType dtype, n.DTypeAttr("dtype", DType::kF32));
  if (!IsNumeric(dtype) && dtype != DType::kBool) return n.Bad("cannot fill with ", DTypeName(dtype));
  Value* shape = nullptr;
  if (!n.Has(0))
    shape = n.b.Ints(n.Ints("shape"));
  else if (n.Int("input_as_shape"))
    shape = n.In(0);
  else
    shape = n.b.Op("Shape", {n.In(0)});
  if (n.HasAttr("extra_shape"))
    shape = n.b.Op("Concat", {shape, n.b.Ints(n.Ints("extra_shape"))}, {{"axis", int64_t{0}}});
  n.Out(0, n.b.Op("Fill", {shape}, {{"value", Tensor::Scalar(dtype, n.Float("value"))}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(shape) {
  table.Add("Squeeze", Squeeze);
  table.Add("Unsqueeze", Unsqueeze);
  table.Add("Flatten", Direct("Flatten", {"axis"}));
  table.Add("Transpose", Direct("Transpose", {"perm"}));
  table.Add("Concat", Concat);
  table.Add("Split", Split);
  table.Add("Slice", Slice);
  table.Add("Gather", Direct("Gather", {"axis"}));
  table.Add("Pad", Pad);
  table.Add("Tile", Tile);
  table.Add("Expand", Direct("Expand"));
  table.Add("Shape", Direct("Shape", {"start", "end"}));
  table.Add("Size", Direct("Size"));
  table.Add("ConstantOfShape", ConstantOfShape);
  table.Add("ConstantFill", ConstantFill);
  table.Add("Range", Direct("Range"));
}

}  // namespace tern::onnx
