// Exports ops that only move elements, and ops that create or return shapes.
#include <optional>

#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

// Returns an exporter whose inputs 1 to `lists` are lists (see Longs).
Exporter WithLists(const char* onnx_op, int lists) {
  return [=](TernNode& n) -> Status {
    std::vector<std::string> inputs = {n.In(0)};
    for (int i = 1; i <= lists; ++i) inputs.push_back(Longs(n, i));
    n.Emit(onnx_op, inputs, n.Outs());
    return {};
  };
}

// Returns the sizes of the outputs along the axis, if shape inference knows all of them.
std::optional<std::vector<int64_t>> OutputSizes(const TernNode& n) {
  std::vector<int64_t> lengths;
  for (const Value* out : n.node.outputs()) {
    const Shape& shape = out->type.shape;
    const int64_t axis = n.attrs().Int("axis");
    if (!shape.ranked || axis < -shape.rank() || axis >= shape.rank()) return std::nullopt;
    const Dim& d = shape[static_cast<int>(axis)];
    if (!d.known()) return std::nullopt;
    lengths.push_back(d.value());
  }
  return lengths;
}

// Writes the sizes of the outputs if they are known, and otherwise their number. The sizes are preferred,
// because ONNX and Tern may choose different sizes if the number of outputs does not divide the axis.
Status Split(TernNode& n) {
  AttrList attrs = {{"axis", n.attrs().Int("axis")}};
  const auto outputs = static_cast<int64_t>(n.Outs().size());
  const int64_t split_count = n.attrs().Int("num_outputs");
  if (!n.Has(1) && split_count > outputs)
    return n.NotExportable("it splits into ", split_count, " parts for ", outputs, " outputs");
  std::string sizes = Longs(n, 1);
  if (const auto lengths = n.Has(1) ? std::nullopt : OutputSizes(n))
    sizes = n.Ints(*lengths);
  else if (!n.Has(1))
    attrs.emplace_back("num_outputs", outputs);
  n.Emit("Split", {n.In(0), sizes}, n.Outs(), attrs);
  return {};
}

Status Transpose(TernNode& n) {
  AttrList attrs;
  if (!n.attrs().Ints("perm").empty()) attrs.emplace_back("perm", n.attrs().Ints("perm"));
  n.Emit("Transpose", n.Ins(), n.Outs(), attrs);
  return {};
}

Status Pad(TernNode& n) {
  n.Emit("Pad", {n.In(0), Longs(n, 1), n.In(2), Longs(n, 3)}, n.Outs(), {{"mode", n.attrs().Text("mode")}});
  return {};
}

Status ShapeOf(TernNode& n) {
  AttrList attrs;
  if (n.attrs().Int("start") != 0) attrs.emplace_back("start", n.attrs().Int("start"));
  if (n.attrs().Int("end") != INT64_MAX) attrs.emplace_back("end", n.attrs().Int("end"));
  n.Emit("Shape", n.Ins(), n.Outs(), attrs);
  return {};
}

Status Fill(TernNode& n) {
  for (const auto& entry : n.attrs().List())
    if (entry.name == "value")
      n.Emit("ConstantOfShape", {Longs(n, 0)}, n.Outs(),
             {{"value", std::get<Tensor>(entry.value).Reshaped({1})}});
  return {};
}

// ONNX's Range supports few types. Other types are computed in f64 or i64, and the result is cast.
Status Range(TernNode& n) {
  const DType dtype = n.TypeOf(0).dtype;
  const bool direct = dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kI16 ||
                      dtype == DType::kI32 || dtype == DType::kI64;
  std::vector<std::string> inputs;
  const DType wide = direct ? dtype : IsFloat(dtype) ? DType::kF64 : DType::kI64;
  for (int i = 0; i < 3; ++i) {
    std::string in = direct ? n.In(i) : n.Op("Cast", {n.In(i)}, {{"to", wide}});
    if (n.TypeOf(i).shape.rank() != 0) in = n.Op("Reshape", {in, n.Ints({})});
    inputs.push_back(in);
  }
  if (direct)
    n.Emit("Range", inputs, n.Outs());
  else
    n.Emit("Cast", {n.Op("Range", inputs)}, n.Outs(), {{"to", dtype}});
  return {};
}

}  // namespace

TERN_EXPORTERS(shape) {
  table.Add("Squeeze", WithLists("Squeeze", 1));
  table.Add("Unsqueeze", WithLists("Unsqueeze", 1));
  table.Add("Flatten", DirectTo("Flatten", {"axis"}));
  table.Add("Transpose", Transpose);
  table.Add("Concat", DirectTo("Concat", {"axis"}));
  table.Add("Split", Split);
  table.Add("Slice", WithLists("Slice", 4));
  table.Add("Gather", DirectTo("Gather", {"axis"}));
  table.Add("Pad", Pad);
  table.Add("Tile", WithLists("Tile", 1));
  table.Add("Expand", WithLists("Expand", 1));
  table.Add("Shape", ShapeOf);
  table.Add("Size", DirectTo("Size"));
  table.Add("Fill", Fill);
  table.Add("Range", Range);
}

}  // namespace tern::onnx
