// Adds the steps that are ops to the model's graph.
#include <algorithm>
#include <limits>

#include "ir/builder.h"
#include "pipeline/binding.h"

namespace tern::pipeline {
namespace {

Value* Mul(Builder& b, Value* x, Value* y) { return b.Op("Binary", {x, y}, {{"kind", "mul"}}); }

// Returns a constant with one value, or one per channel in the layout of the model's input.
Value* PerChannel(Builder& b, const BoundInput& input, const std::vector<double>& values) {
  const auto count = static_cast<int64_t>(values.size());
  const Dims dims = count == 1 ? Dims{} : input.image.nchw ? Dims{count, 1, 1} : Dims{count};
  return b.Const(Tensor::Of(input.type.dtype, dims, values));
}

// (x * scale - mean) / std is (x - mean / scale) * (scale / std). The subtraction comes first, because the
// factor can then be folded into the weights of a convolution. The subtraction cannot be folded if the
// convolution pads its input with zeros.
Value* Normalised(Builder& b, const BoundInput& input, const NormaliseStep& step, Value* x) {
  const bool shift = std::any_of(step.mean.begin(), step.mean.end(), [](double m) { return m != 0; });
  if (shift) {
    std::vector<double> means;
    for (const double mean : step.mean) means.push_back(mean / step.scale);
    x = b.Op("Binary", {x, PerChannel(b, input, means)}, {{"kind", "sub"}});
  }
  std::vector<double> factors;
  for (const double std : step.std.empty() ? std::vector<double>{1} : step.std)
    factors.push_back(step.scale / std);
  const bool scales = std::any_of(factors.begin(), factors.end(), [](double f) { return f != 1; });
  return scales ? Mul(b, x, PerChannel(b, input, factors)) : x;
}

// Removes an input that nothing reads.
void RemoveInput(Graph& graph, Value* input) {
  graph.InputToConstant(input, Tensor::Scalar(DType::kF32, 0));
  graph.RemoveUnusedConstants();
}

Value* FindInput(const Graph& graph, const std::string& name) {
  for (Value* value : graph.inputs())
    if (value->name == name) return value;
  return nullptr;
}

Value* FindOutput(const Graph& graph, const std::string& name) {
  for (Value* value : graph.outputs())
    if (value->name == name) return value;
  return nullptr;
}

// Replaces the model's input by u8[N,H,W,C].
Status AddPixels(const BoundInput& input, Builder& b) {
  Graph& graph = b.graph();
  Value* old = FindInput(graph, input.tensor);
  std::vector<Dim> dims = old->type.shape.dims;
  if (input.image.nchw) dims = {dims[0], dims[2], dims[3], dims[1]};
  if (!dims[3].known()) dims[3] = Dim(input.image.channels);
  const Type type = old->type;
  old->name += "/model";  // the name must be unique
  Value* pixels = graph.AddInput(input.tensor, Type::TensorOf(DType::kU8, Shape(dims)));
  b.At(StrCat("pipeline/", input.spec.name), "pipeline");
  const auto* normalise = input.spec.Find<NormaliseStep>();
  if (normalise && !IsFloat(type.dtype))
    return InvalidArgument("input '", input.tensor, "' of the model is ", type.ToString(),
                           "; normalise needs an input of floats");
  Value* x = pixels;
  if (type.dtype != DType::kU8) x = b.Op("Cast", {x}, {{"to", type.dtype}});
  if (input.image.nchw) x = b.Op("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
  if (normalise) x = Normalised(b, input, *normalise, x);
  TERN_TRY(b.status());
  graph.ReplaceUses(old, x);
  RemoveInput(graph, old);
  return {};
}

// Returns the mean or the maximum of the tokens that the mask selects: [N,tokens,size] becomes [N,size].
Value* Pooled(Builder& b, const PoolStep& pool, Value* x, Value* mask) {
  if (pool.kind == "cls") return b.Op("Gather", {x, b.Const(Tensor::Scalar(DType::kI64, 0))}, {{"axis", 1}});
  const DType dtype = x->type.dtype;
  const bool mean = pool.kind == "mean";
  if (!mask) return b.Op("Reduce", {x, b.Ints({1})}, {{"kind", mean ? "mean" : "max"}, {"keep_dims", false}});
  if (!mean) {
    Value* keep = b.Op("Unsqueeze", {b.Op("Cast", {mask}, {{"to", DType::kBool}}), b.Ints({2})});
    x = b.Op("Where", {keep, x, b.Scalar(dtype, -std::numeric_limits<double>::infinity())});
    return b.Op("Reduce", {x, b.Ints({1})}, {{"kind", "max"}, {"keep_dims", false}});
  }
  Value* weight = b.Op("Unsqueeze", {b.Op("Cast", {mask}, {{"to", dtype}}), b.Ints({2})});
  Value* sum = b.Op("Reduce", {Mul(b, x, weight), b.Ints({1})}, {{"kind", "sum"}, {"keep_dims", false}});
  Value* count = b.Op("Reduce", {weight, b.Ints({1})}, {{"kind", "sum"}, {"keep_dims", false}});
  count = b.Op("Binary", {count, b.Scalar(dtype, 1e-9)}, {{"kind", "max"}});
  return b.Op("Binary", {sum, count}, {{"kind", "div"}});
}

Value* L2Normalised(Builder& b, Value* x) {
  Value* norm = b.Op("Reduce", {x, b.Ints({-1})}, {{"kind", "l2"}, {"keep_dims", true}});
  norm = b.Op("Binary", {norm, b.Scalar(x->type.dtype, 1e-12)}, {{"kind", "max"}});
  return b.Op("Binary", {x, norm}, {{"kind", "div"}});
}

Value* AddStep(Builder& b, const OutputStep& step, Value* x, Value* mask) {
  if (const auto* softmax = std::get_if<SoftmaxStep>(&step.options))
    return b.Op("Softmax", {x}, {{"axis", int64_t{softmax->axis}}});
  if (std::get_if<SigmoidStep>(&step.options)) return b.Op("Unary", {x}, {{"kind", "sigmoid"}});
  if (const auto* pool = std::get_if<PoolStep>(&step.options)) return Pooled(b, *pool, x, mask);
  if (std::get_if<L2NormaliseStep>(&step.options)) return L2Normalised(b, x);
  if (std::get_if<SegmentationStep>(&step.options))
    return b.Op("ArgReduce", {x}, {{"kind", "max"}, {"axis", int64_t{1}}, {"keep_dims", false}});
  if (std::get_if<CtcStep>(&step.options))
    return b.Op("Softmax", {x}, {{"kind", "log_softmax"}, {"axis", int64_t{-1}}});
  if (std::get_if<DecodeTextStep>(&step.options) && IsFloat(x->type.dtype))
    return b.Op("ArgReduce", {x}, {{"kind", "max"}, {"axis", int64_t{-1}}, {"keep_dims", false}});
  return x;
}

// For a detector whose scores are a separate output, x is that output.
Value* AddSteps(Builder& b, const OutputSpec& spec, Value* x, Value* mask) {
  for (const OutputStep& step : spec.steps) x = AddStep(b, step, x, mask);
  return x;
}

Result<Value*> AddOutput(const Spec& spec, BoundOutput& output, Builder& b) {
  Value* x = FindOutput(b.graph(), output.tensor);
  Value* const before = x;
  Value* mask = output.mask.empty() ? nullptr : FindInput(b.graph(), output.mask);
  b.At(StrCat("pipeline/", output.spec.name), "pipeline");
  if (output.spec.Find<PoolStep>() && x->type.shape.ranked && x->type.shape.rank() != 3)
    return InvalidArgument(PlaceOf(spec, output.spec.line), "pool needs an output [N,tokens,size], but '",
                           output.tensor, "' is ", x->type.ToString());
  if (output.spec.Find<SegmentationStep>() && x->type.shape.ranked && x->type.shape.rank() != 4)
    return InvalidArgument(PlaceOf(spec, output.spec.line), "segmentation needs scores [N,C,H,W], but '",
                           output.tensor, "' is ", x->type.ToString());
  if (output.scores.empty()) x = AddSteps(b, output.spec, x, mask);
  if (!b.status().ok())
    return Status(b.status())
        .While(StrCat("adding the steps of '", output.spec.name, "', ", PlaceOf(spec, output.spec.line)));
  if (x != before) x->name = StrCat("pipeline/", output.spec.name);
  output.result = x->name;
  return x;
}

Status AddConstants(const Spec& spec, Graph& graph) {
  for (const auto& [name, number] : spec.constants) {
    Value* input = FindInput(graph, name);
    const Shape& shape = input->type.shape;
    const bool one = shape.fully_known() && CountOf(shape.Concrete()) == 1;
    if (!input->type.tensor() || !one || input->type.dtype == DType::kString)
      return InvalidArgument(spec.file, ": constant '", name, "' is a number, but the model's input is ",
                             input->type.ToString());
    graph.InputToConstant(input, Tensor::Of(input->type.dtype, shape.Concrete(), {number}));
  }
  return {};
}

}  // namespace

Status AddGraphSteps(Binding& binding, Graph& graph) {
  const Spec& spec = binding.spec;
  Builder b(graph);
  TERN_TRY(AddConstants(spec, graph));
  for (const BoundInput& input : binding.inputs)
    if (input.kind == BoundInput::Kind::kImage) TERN_TRY(AddPixels(input, b));
  std::vector<Value*> outputs;
  const auto add = [&](Value* value) {
    if (std::find(outputs.begin(), outputs.end(), value) == outputs.end()) outputs.push_back(value);
  };
  for (BoundOutput& output : binding.outputs) {
    TERN_ASSIGN(Value * value, AddOutput(spec, output, b));
    add(value);
    if (output.scores.empty()) continue;
    Value* scores = FindOutput(graph, output.scores);
    Value* stepped = AddSteps(b, output.spec, scores, nullptr);
    TERN_TRY(b.status());
    if (stepped != scores) stepped->name = StrCat("pipeline/", output.spec.name, "/scores");
    output.result_scores = stepped->name;
    add(stepped);
  }
  for (const auto& [input, output] : spec.states) {
    Value* value = FindOutput(graph, output);
    if (!value)
      return InvalidArgument(spec.file, ": state '", input, "': the model has no output '", output, "'");
    add(value);
  }
  graph.ClearStates();
  graph.SetOutputs(outputs);
  graph.RemoveDeadNodes();
  return graph.SortNodes();
}

}  // namespace tern::pipeline
