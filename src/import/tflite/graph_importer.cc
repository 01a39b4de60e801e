#include "import/tflite/graph_importer.h"

#include "import/tflite/variables.h"

namespace tern::tflite {
namespace {

bool IsComplexType(DType t) { return t == DType::kC64 || t == DType::kC128; }

int64_t PartsOf(const fb::SubGraph& subgraph) {
  return int64_t{subgraph.operators() ? subgraph.operators()->size() : 0} +
         int64_t{subgraph.tensors() ? subgraph.tensors()->size() : 0};
}

}  // namespace

int64_t PartsOf(const Model& model) {
  int64_t sum = 0;
  for (int i = 0; i < model.subgraph_count(); ++i) sum += PartsOf(model.subgraph(i));
  return sum;
}

Value* Transposed(Builder& b, Value* v, const std::vector<int64_t>& perm) {
  return b.Op("Transpose", {v}, {{"perm", perm}});
}

GraphImporter::GraphImporter(ModelContext& context, Graph& graph, int subgraph, GraphImporter* outer)
    : context_(context),
      graph_(graph),
      subgraph_(subgraph),
      outer_(outer),
      depth_(outer ? outer->depth_ + 1 : 0),
      variables_(outer ? &outer->variables_ : nullptr) {}

Status GraphImporter::ReadTensors() {
  if (!infos_.empty() || !proto().tensors()) return {};
  for (const fb::Tensor* tensor : *proto().tensors()) {
    TERN_ASSIGN(TensorInfo info, InfoOf(*tensor));
    infos_.push_back(std::move(info));
  }
  slots_.resize(infos_.size());
  return {};
}

Status GraphImporter::CheckCall(int subgraph, size_t inputs) const {
  if (subgraph < 0 || subgraph >= context_.model.subgraph_count())
    return InvalidModel("subgraph ", subgraph, " does not exist; the model has ",
                        context_.model.subgraph_count());
  if (depth_ + 1 > kMaxDepth)
    return Unsupported("subgraphs are nested deeper than ", kMaxDepth, ", or call themselves");
  const auto* wanted = context_.model.subgraph(subgraph).inputs();
  if ((wanted ? wanted->size() : 0) != inputs)
    return InvalidModel("subgraph ", subgraph, " has ", wanted ? wanted->size() : 0,
                        " inputs, but is called with ", inputs);
  return {};
}

Status GraphImporter::Import(const std::vector<Operand>& inputs) {
  if (!context_.parts.Count(PartsOf(proto())))
    return Unsupported("the model has more than ", context_.parts.most(),
                       " operators and tensors once its subgraphs are inlined");
  TERN_TRY(ReadTensors());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Slot& s = slot(proto().inputs()->Get(static_cast<uint32_t>(i)));
    s.last = inputs[i].value;
    s.resource = inputs[i].resource;
  }
  if (!proto().operators()) return {};
  int index = 0;
  for (const fb::Operator* op : *proto().operators()) TERN_TRY(ConvertNode(*op, index++));
  return {};
}

Result<std::vector<Operand>> GraphImporter::Outputs() {
  std::vector<Operand> outputs;
  Builder b(graph_);
  if (!proto().outputs()) return outputs;
  for (int tensor : *proto().outputs()) {
    if (!info(tensor).resource) TERN_TRY(Require(tensor));
    outputs.push_back(OperandOf(tensor, b));
  }
  TERN_TRY(Status(b.status()));
  return outputs;
}

Result<std::vector<Operand>> GraphImporter::Inline(int subgraph, const std::vector<Operand>& inputs) {
  TERN_TRY(CheckCall(subgraph, inputs.size()));
  GraphImporter body(context_, graph_, subgraph, this);
  TERN_TRY(body.Import(inputs));
  for (const auto& [resource, value] : body.variables_.own()) variables_.Set(resource, value);
  return body.Outputs();
}

Operand GraphImporter::OperandOf(int tensor, Builder& b) {
  if (info(tensor).resource) return {nullptr, ResourceOf(tensor)};
  return {Stored(tensor, Layout::kLast, b), -1};
}

Status GraphImporter::CheckOutputsAreNew(const LiteNode& node) const {
  for (int i = 0; i < node.OutputCount(); ++i) {
    const int t = node.proto().outputs()->Get(static_cast<uint32_t>(i));
    if (t < 0) continue;
    const Slot& s = slots_[static_cast<size_t>(t)];
    if (s.last || s.first)
      return node.Bad("output ", i, " is ", info(t).Describe(), ", which already has a value");
  }
  return {};
}

Status GraphImporter::ConvertNode(const fb::Operator& op, int index) {
  Builder builder(graph_);
  const std::string name = context_.model.OperatorName(op);
  LiteNode node(*this, op, name, builder);
  builder.At(node.OutputCount() && op.outputs()->Get(0) >= 0 ? node.InfoOut(0).name : "",
             StrCat(name, ", tflite operator #", index));
  const Converter* converter = Converters().Find(name);
  if (!converter) return Unsupported("operator ", name);
  for (int i = 0; i < node.InputCount(); ++i) {
    if (!node.Has(i) || node.InfoIn(i).resource || node.InfoIn(i).variable) continue;
    Status ready = Require(node.TensorOf(i));
    if (!ready.ok()) return Status(ready.code(), StrCat(node.Describe(), ": ", ready.message()));
  }
  for (int i = 0; i < converter->inputs; ++i)
    if (!node.Has(i)) return node.Bad("has no input ", i);
  TERN_TRY(CheckOutputsAreNew(node));
  Status converted = converter->convert(node);
  TERN_TRY(Status(builder.status()));
  TERN_TRY(std::move(converted));
  for (int i = 0; i < node.OutputCount(); ++i) {
    const int t = op.outputs()->Get(static_cast<uint32_t>(i));
    if (t >= 0 && !slot(t).last && !slot(t).first && slot(t).resource < 0)
      return node.Bad("has output ", i, ", which the operator does not produce");
  }
  return {};
}

Status GraphImporter::Require(int tensor) {
  Slot& s = slot(tensor);
  if (s.last || s.first || s.variable || info(tensor).resource || info(tensor).variable) return {};
  TERN_ASSIGN(Tensor constant, ConstantOf(context_.model, info(tensor)));
  if (!constant.defined())
    return InvalidModel(info(tensor).Describe(), " is neither constant nor computed before it is used");
  if (IsComplexType(info(tensor).dtype)) return Unsupported(info(tensor).Describe(), ": complex constants");
  s.last = graph_.AddConstant(std::move(constant), info(tensor).name);
  return {};
}

Value* GraphImporter::Stored(int tensor, Layout layout, Builder& b) {
  Slot& s = slot(tensor);
  if (!s.last && !s.first) {
    b.Fail(InvalidModel(info(tensor).Describe(), " has no value"));
    return s.last = graph_.AddConstant(Tensor(DType::kF32, {}));
  }
  Value*& wanted = layout == Layout::kLast ? s.last : s.first;
  if (!wanted && layout == Layout::kLast) wanted = Transposed(b, s.first, kToLast);
  if (!wanted)
    wanted = s.last->is_constant() && s.last->type.shape.rank() == 4 && BitWidth(s.last->type.dtype) >= 8
                 ? graph_.AddConstant(Permuted(s.last->constant, kToFirst), s.last->name)
                 : Transposed(b, s.last, kToFirst);
  return wanted;
}

Value* GraphImporter::Real(int tensor, Layout layout, Builder& b) {
  const TensorInfo& t = info(tensor);
  Value* stored = Stored(tensor, layout, b);
  if (!t.quantized) return stored;
  Value*& real = layout == Layout::kLast ? slot(tensor).real_last : slot(tensor).real_first;
  if (real) return real;
  int axis = t.quant.axis;
  for (int i = 0; layout == Layout::kFirst && i < 4; ++i)
    if (kToFirst[static_cast<size_t>(i)] == t.quant.axis) {
      axis = i;
      break;
    }
  return real = Dequantize(stored, t, axis, b);
}

Value* GraphImporter::Dequantize(Value* v, const TensorInfo& info, int axis, Builder& b) {
  const Quantization& q = info.quant;
  if (q.block_size > 0) return BlockScaled(v, info, b);
  if (!IsInt(v->type.dtype)) {  // after an earlier error the type is unknown, and b keeps that error
    b.Fail(InvalidModel(info.Describe(), ": is quantized, but its values are ", v->type.ToString()));
    return v;
  }
  const Dims dims = q.one_scale() ? Dims{} : Dims{static_cast<int64_t>(q.scales.size())};
  Value* scale = b.Const(Tensor::Of(DType::kF32, dims, {q.scales.begin(), q.scales.end()}));
  Value* zero =
      q.zeros.empty() ? nullptr : b.Const(Tensor::Of(v->type.dtype, dims, {q.zeros.begin(), q.zeros.end()}));
  return b.Op("Dequantize", {v, scale, zero}, {{"axis", static_cast<int64_t>(axis)}});
}

// The scales of the blocks are another tensor of the subgraph, in f16 or f32, with one row per row of `v`.
Value* GraphImporter::BlockScaled(Value* v, const TensorInfo& info, Builder& b) {
  const Quantization& q = info.quant;
  const auto fail = [&](Status status) {
    b.Fail(std::move(status));
    return v;
  };
  if (q.block_scales < 0 || q.block_scales >= static_cast<int>(infos_.size()))
    return fail(InvalidModel(info.Describe(), ": tensor ", q.block_scales, " of its scales does not exist"));
  if (Status ready = Require(q.block_scales); !ready.ok()) return fail(std::move(ready));
  Value* scale = Stored(q.block_scales, Layout::kLast, b);
  if (!scale->is_constant()) return fail(Unsupported(info.Describe(), ": its scales are not constant"));
  Dims dims = info.dims;
  dims.back() /= q.block_size;
  if (CountOf(dims) != scale->constant.size())
    return fail(InvalidModel(info.Describe(), " has ", CountOf(dims), " blocks, but ", scale->constant.size(),
                             " scales"));
  Value* scales = b.Const(Tensor::Of(DType::kF32, dims, ToDoubles(scale->constant)));
  // If the index of the zero point tensor is -1 or 0, the blocks have no zero points.
  if (q.block_zeros > 0) return fail(Unsupported(info.Describe(), ": zero points of blocks"));
  return b.Op("Dequantize", {v, scales},
              {{"axis", static_cast<int64_t>(info.dims.size()) - 1}, {"block_size", q.block_size}});
}

Layout GraphImporter::LayoutOf(int tensor) const {
  const Slot& s = slots_[static_cast<size_t>(tensor)];
  return s.first && !s.last ? Layout::kFirst : Layout::kLast;
}

void GraphImporter::SetStored(int tensor, Value* value, Layout layout, Builder& b) {
  const TensorInfo& t = info(tensor);
  // The parts of a complex number are a last axis of size 2.
  const DType wanted = t.dtype == DType::kC64 ? DType::kF32 : t.dtype;
  if (value->type.tensor() && value->type.dtype != wanted && !t.resource)
    value = b.Op("Cast", {value}, {{"to", wanted}});
  (layout == Layout::kLast ? slot(tensor).last : slot(tensor).first) = value;
  if (value->name.empty() && layout == Layout::kLast) value->name = t.name;
}

Value* GraphImporter::Quantize(Value* value, const TensorInfo& t, Builder& b) {
  if (!t.quantized) return value;
  if (!t.quant.one_scale()) {
    b.Fail(Unsupported(t.Describe(), ": a computed tensor with several scales"));
    return value;
  }
  Value* scale = b.Scalar(DType::kF32, static_cast<double>(t.quant.scales[0]));
  Value* zero = b.Scalar(t.dtype, t.quant.zeros.empty() ? 0 : static_cast<double>(t.quant.zeros[0]));
  return b.Op("Quantize", {value, scale, zero}, {{"to", t.dtype}});
}

void GraphImporter::SetReal(int tensor, Value* value, Layout layout, Builder& b) {
  SetStored(tensor, Quantize(value, info(tensor), b), layout, b);
}

Result<Value*> GraphImporter::ReadVariable(int tensor, Builder& b) {
  Slot& s = slot(tensor);
  if (s.variable) return s.variable;
  const TensorInfo& t = info(tensor);
  if (!t.variable) {
    TERN_TRY(Require(tensor));
    return s.variable = Real(tensor, Layout::kLast, b);
  }
  if (!top_level() || &graph_ != &context_.graph)
    return Unsupported(t.Describe(), ": a variable tensor in a subgraph that another operator calls");
  Shape shape = Shape::Of(t.dims);
  s.past = s.variable = graph_.AddInput(t.name, Type::TensorOf(DType::kF32, shape));
  used_variables_.push_back(tensor);
  return s.variable;
}

Status GraphImporter::AddVariableStates() {
  std::vector<Value*> outputs = graph_.outputs();
  for (int tensor : used_variables_) {
    const Slot& s = slot(tensor);
    TERN_TRY(AddState(graph_, info(tensor).name, s.past, s.variable, outputs));
  }
  graph_.SetOutputs(outputs);
  return {};
}

}  // namespace tern::tflite
