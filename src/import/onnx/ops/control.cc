// If, Loop, Scan, sequences and optionals.
#include "import/onnx/converter.h"

namespace tern::onnx {
namespace {

std::vector<Value*> AllInputs(OnnxNode& n, int from = 0) {
  std::vector<Value*> inputs;
  for (int i = from; i < n.InputCount(); ++i) inputs.push_back(n.In(i));
  return inputs;
}

// The type with its dims forgotten: a state may change its size from turn to turn.
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
  if (n.SubgraphInputs("body") != states + 2) return n.Bad("the body takes ", n.SubgraphInputs("body"), " inputs, the loop gives it ", states + 2);
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

// Opset 8 has a batch axis in front of everything: a Scan over the batch whose body is the Scan itself.
Status ConvertScan8(OnnxNode& n) {
  if (n.Has(0)) return n.NotYet("sequence_lens of opset 8");
  const std::vector<Value*> inputs = AllInputs(n, 1);
  Node* batch = n.b.Open("Scan", inputs, {{"scan_inputs", static_cast<int64_t>(inputs.size())}}, n.OutputCount());
  Graph* body = n.b.graph().AddSubgraph(batch, "batch");
  std::vector<Value*> slices;
  for (Value* v : inputs) {
    Type type = v->type;
    if (type.shape.ranked && !type.shape.dims.empty()) type.shape.dims.erase(type.shape.dims.begin());
    slices.push_back(body->AddInput(v->name, std::move(type)));
  }
  Builder inside(*body);
  Node* scan = inside.Open("Scan", slices, ScanAttrs(n), n.OutputCount());
  TERN_TRY(n.Subgraph(scan, "body", "body"));
  body->SetOutputs(scan->outputs());
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
    if (i >= states && !dims.empty()) dims.pop_back();  // which axis goes does not matter: no dim is known
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
