// Converts If, Loop, Scan, and the operators on sequences and optionals.
#include <algorithm>

#include "import/onnx/converter.h"

namespace tern::onnx {
namespace {

std::vector<Value*> AllInputs(OnnxNode& n, int from = 0) {
  std::vector<Value*> inputs;
  for (int i = from; i < n.InputCount(); ++i) inputs.push_back(n.In(i));
  return inputs;
}

// Returns the type with unknown dims, because a loop's state may change its size between iterations.
Type AnySize(Type type) {
  for (Dim& d : type.shape.dims) d = Dim::Unknown();
  return type;
}

Type Scalar(DType dtype) { return Type::TensorOf(dtype, Shape(std::vector<Dim>{})); }

Status ConvertIf(OnnxNode& n) {
  Node* node = n.b.Open("If", {n.In(0)}, {}, n.OutputCount());
  TERN_TRY(n.Subgraph(node, "then_branch", "then"));
  TERN_TRY(n.Subgraph(node, "else_branch", "else"));
  n.b.Finish(node);
  n.Out(node->outputs());
  return {};
}

Status ConvertLoop(OnnxNode& n) {
  const int states = std::max(0, n.InputCount() - 2);
  if (n.SubgraphInputs("body") != states + 2)
    return n.Bad("the body has ", n.SubgraphInputs("body"), " inputs, but the loop passes ", states + 2);
  Node* node = n.b.Open("Loop", AllInputs(n), {}, n.OutputCount());
  std::vector<Type> types = {Scalar(DType::kI64), Scalar(DType::kBool)};
  for (int i = 2; i < n.InputCount(); ++i) types.push_back(n.Has(i) ? AnySize(n.In(i)->type) : Type());
  TERN_TRY(n.Subgraph(node, "body", "body", types));
  n.b.Finish(node);
  n.Out(node->outputs());
  return {};
}

AttrList ScanAttrs(OnnxNode& n) {
  return {{"scan_inputs", n.Int("num_scan_inputs")},
          {"input_axes", n.Ints("scan_input_axes")},
          {"output_axes", n.Ints("scan_output_axes")},
          {"input_reverse", n.opset >= 9 ? n.Ints("scan_input_directions") : n.Ints("directions")},
          {"output_reverse", n.Ints("scan_output_directions")}};
}

// Returns the length of axis 0 as a vector with one element.
Value* LengthOf(Builder& b, Value* x) {
  return b.Op("Shape", {x}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
}

// Truncates x, the sequence of one batch entry, to `length` along axis 0. A negative length counts as 0.
Value* CutSequence(Builder& b, Value* x, Value* length) {
  Value* end = b.Op("Reshape", {b.Op("Cast", {length}, {{"to", DType::kI64}}), b.Ints({1})});
  end = b.Op("Binary", {end, b.Ints({0})}, {{"kind", "max"}});
  return b.Op("Slice", {x, b.Ints({0}), end, b.Ints({0})});
}

// Pads y, the result for a truncated sequence, with zeros to the length `full` along axis 0.
Value* FillSequence(Builder& b, Value* y, Value* full) {
  Value* missing = b.Op("Binary", {full, LengthOf(b, y)}, {{"kind", "sub"}});
  Value* pads = b.Op("Concat", {b.Ints({0}), missing}, {{"axis", int64_t{0}}});
  return b.Op("Pad", {y, pads, nullptr, b.Ints({0})});
}

// Emits the Scan of one batch entry. `slices` are the operands of this entry. If `lengths` is true, slices[0]
// is the length of the entry's sequence.
Status ScanEntry(OnnxNode& n, Builder& b, std::vector<Value*> slices, bool lengths) {
  Value* length = lengths ? slices.front() : nullptr;
  Value* full = lengths ? LengthOf(b, slices.back()) : nullptr;
  if (lengths) slices.erase(slices.begin());
  const auto states = slices.size() - static_cast<size_t>(n.Int("num_scan_inputs"));
  for (size_t i = states; lengths && i < slices.size(); ++i) slices[i] = CutSequence(b, slices[i], length);
  Node* scan = b.Open("Scan", slices, ScanAttrs(n), n.OutputCount());
  TERN_TRY(n.Subgraph(scan, "body", "body"));
  b.Finish(scan);
  std::vector<Value*> outputs = scan->outputs();
  for (size_t i = states; lengths && i < outputs.size(); ++i) outputs[i] = FillSequence(b, outputs[i], full);
  b.graph().SetOutputs(outputs);
  return b.status();
}

// In opset 8 all operands have a leading batch axis. Emits an outer Scan over the batch. Its body contains
// the Scan of one batch entry.
Status ConvertScan8(OnnxNode& n) {
  const std::vector<Value*> inputs = AllInputs(n, n.Has(0) ? 0 : 1);
  if (std::count(inputs.begin(), inputs.end(), nullptr)) return n.Bad("a state or scan input is missing");
  if (n.Int("num_scan_inputs") < 1 || n.Int("num_scan_inputs") >= n.InputCount())
    return n.Bad("num_scan_inputs must be 1 to ", n.InputCount() - 1,
                 ", the number of inputs without sequence_lens, got ", n.Int("num_scan_inputs"));
  Node* batch =
      n.b.Open("Scan", inputs, {{"scan_inputs", static_cast<int64_t>(inputs.size())}}, n.OutputCount());
  Graph* body = n.b.graph().AddSubgraph(batch, "batch");
  std::vector<Value*> slices;
  for (Value* v : inputs) {
    Type type = v->type;
    if (type.shape.ranked && !type.shape.dims.empty()) type.shape.dims.erase(type.shape.dims.begin());
    slices.push_back(body->AddInput(v->name, std::move(type)));
  }
  Builder inside(*body);
  TERN_TRY(ScanEntry(n, inside, slices, n.Has(0)));
  n.b.Finish(batch);
  n.Out(batch->outputs());
  return {};
}

Status ConvertScan(OnnxNode& n) {
  if (n.opset < 9) return ConvertScan8(n);
  Node* node = n.b.Open("Scan", AllInputs(n), ScanAttrs(n), n.OutputCount());
  const int64_t states = n.InputCount() - n.Int("num_scan_inputs");
  std::vector<Type> types;
  for (int i = 0; i < n.InputCount(); ++i) {
    types.push_back(n.Has(i) ? AnySize(n.In(i)->type) : Type());
    auto& dims = types.back().shape.dims;
    // Removes the scan axis. All dims are unknown, so it does not matter which of them is removed.
    if (i >= states && !dims.empty()) dims.pop_back();
  }
  TERN_TRY(n.Subgraph(node, "body", "body", types));
  n.b.Finish(node);
  n.Out(node->outputs());
  return {};
}

Status ConvertSequenceMap(OnnxNode& n) {
  Node* node = n.b.Open("SequenceMap", AllInputs(n), {}, n.OutputCount());
  TERN_TRY(n.Subgraph(node, "body", "body"));
  n.b.Finish(node);
  n.Out(node->outputs());
  return {};
}

Status ConvertSequenceEmpty(OnnxNode& n) {
  TERN_ASSIGN(DType dtype, n.DTypeAttr("dtype", DType::kF32));
  n.Out(0, n.b.Op("SequenceEmpty", {}, {{"dtype", dtype}}));
  return {};
}

Status ConvertOptional(OnnxNode& n) {
  const Type type = n.TypeAttr("type");
  const bool sequence = type.kind == Type::Kind::kSequence;
  const DType dtype = sequence && type.element ? type.element->dtype : type.dtype;
  std::vector<Value*> inputs;
  if (n.Has(0)) inputs.push_back(n.In(0));
  AttrList attrs = {{"sequence", sequence}};
  if (dtype != DType::kInvalid) attrs.emplace_back("dtype", dtype);
  n.Out(0, n.b.Op("Optional", inputs, attrs));
  return {};
}

}  // namespace

TERN_CONVERTERS(control) {
  table.Add("If", ConvertIf);
  table.Add("Loop", ConvertLoop);
  table.Add("Scan", ConvertScan);
  table.Add("SequenceMap", ConvertSequenceMap);
  table.Add("SequenceEmpty", ConvertSequenceEmpty);
  table.Add("SequenceConstruct", Direct("SequenceConstruct"));
  table.Add("SequenceAt", Direct("SequenceAt"));
  table.Add("SequenceInsert", Direct("SequenceInsert"));
  table.Add("SequenceErase", Direct("SequenceErase"));
  table.Add("SequenceLength", Direct("SequenceLength"));
  table.Add("ConcatFromSequence", Direct("ConcatFromSequence", {"axis", "new_axis"}));
  table.Add("SplitToSequence", Direct("SplitToSequence", {"axis", "keepdims=keep_dims"}));
  table.Add("Optional", ConvertOptional);
  table.Add("OptionalHasElement", Direct("OptionalHasElement"));
  table.Add("OptionalGetElement", Direct("OptionalGetElement"));
}

}  // namespace tern::onnx
