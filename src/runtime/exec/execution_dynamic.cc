// Runs dynamic steps. Their shapes depend on data, so each run infers shapes, resizes kernels and allocates
// outputs.
#include <algorithm>
#include <cstring>

#include "runtime/exec/execution.h"
#include "runtime/exec/run_once.h"

namespace tern {
namespace {

bool HasHostInput(const RunContext& c) {
  for (const Datum* d : c.inputs)
    if (d && (!d->is_tensor() || d->tensor.dtype() == DType::kString)) return true;
  return false;
}

Result<std::vector<InferOutput>> InferNow(const Node& node, const RunContext& c) {
  std::vector<InferInput> inputs(c.inputs.size());
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i]) continue;
    const Datum& d = *c.inputs[i];
    inputs[i].present = true;
    const Type& declared = node.inputs()[i]->type;
    inputs[i].type = d.is_tensor() || declared.kind == Type::Kind::kUnknown ? TypeOf(d) : declared;
    if (d.is_tensor()) inputs[i].constant = d.tensor;
  }
  return InferOutputs(node, std::move(inputs));
}

// Returns whether inference has computed all results, as for Shape, Size and arithmetic on shapes.
bool AllContentsKnown(const std::vector<InferOutput>& outputs) {
  for (const InferOutput& out : outputs) {
    if (!out.content || !IsInt(out.type.dtype) || !out.type.shape.fully_known() || out.type.shape.rank() > 1)
      return false;
    if (CountOf(out.type.shape.Concrete()) != static_cast<int64_t>(out.content->size())) return false;
    for (const Dim& d : *out.content)
      if (!d.known()) return false;
  }
  return !outputs.empty();
}

}  // namespace

Status Execution::RunDynamic(StepState& step) {
  for (size_t i = 0; i < step.node().outputs.size(); ++i) {
    const int slot = step.node().outputs[i];
    if (!plan_->is_placed(slot)) At(slot) = Datum();
  }
  TERN_TRY(RunDynamicBody(step));
  for (int slot : step.step->release) At(slot) = Datum();
  return {};
}

Status Execution::RunDynamicBody(StepState& step) {
  const Node& node = step.node().node();
  if (!node.subgraphs().empty()) return RunEvaluator(step);
  TERN_ASSIGN(auto outputs, InferNow(node, step.context));
  step.types.clear();
  for (const InferOutput& out : outputs) step.types.push_back(out.type);
  if (node.op->Is(kHostOnly) || HasHostInput(step.context)) {
    step.kernel_name = "host";
    return RunEvaluator(step);
  }
  if (node.op->Is(kPure) && AllContentsKnown(outputs)) return StoreContents(step, outputs);
  if (AllConcrete(step.types)) return RunDynamicKernel(step, step.types);
  return RunFallback(step);
}

Status Execution::RunFallback(StepState& step) {
  step.kernel_name = "reference";
  engine_.fallbacks.insert(&step.node().node());
  return RunEvaluator(step);
}

Status Execution::StoreContents(StepState& step, const std::vector<InferOutput>& outputs) {
  step.kernel_name = "shape";
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int slot = step.node().outputs[i];
    TERN_TRY(PlaceDynamic(slot, outputs[i].type.dtype, outputs[i].type.shape.Concrete()));
    std::vector<int64_t> values;
    for (const Dim& d : *outputs[i].content) values.push_back(d.value());
    FromLongs(values, At(slot).tensor);
  }
  return {};
}

Status Execution::PlaceDynamic(int slot, DType dtype, const Dims& dims) {
  Datum& d = At(slot);
  if (plan_->is_placed(slot)) {
    if (d.tensor.dtype() == dtype && d.tensor.dims() == dims) return {};
    return Status(Code::kInternal,
                  StrCat("an output is ", Describe(dtype, dims), ", but the plan has ", d.tensor.Describe()));
  }
  const auto count = CheckedCount(dims, dtype);
  if (!count) return ResourceExhausted("an output of ", Describe(dtype, dims), " is too large for memory");
  TERN_ASSIGN(Buffer buffer, engine_.pool.Take(BytesOf(dtype, static_cast<size_t>(*count))));
  d = Datum(Tensor::View(std::move(buffer), dtype, dims));
  return {};
}

// Does nothing if the inputs have the same dims as in the last explanation, so that explaining does not slow
// down repeated runs.
Status Execution::ExplainDynamic(StepState& step, const KernelQuery& query) {
  const bool same = std::equal(
      query.inputs.begin(), query.inputs.end(), step.why_inputs.begin(), step.why_inputs.end(),
      [](const TensorInfo& a, const TensorInfo& b) { return a.dtype == b.dtype && a.dims == b.dims; });
  if (same && step.why) return {};
  Choice why;
  TERN_TRY(engine_.model->Choose(step.node().node(), query, engine_.workers.threads(), &why).status());
  why.in_run = true;
  step.why = std::move(why);
  step.why_inputs = query.inputs;
  return {};
}

std::vector<Choice> Execution::Choices() const {
  std::vector<Choice> out = plan_->choices();
  for (const StepState& step : steps_)
    if (step.why && step.why->kernel == step.kernel_name) out.push_back(*step.why);
  return out;
}

Status Execution::RunDynamicKernel(StepState& step, const std::vector<Type>& types) {
  const Node& node = step.node().node();
  RunContext& c = step.context;
  const bool view = node.op->Is(kView);
  const int y = step.node().outputs.empty() ? -1 : step.node().outputs[0];
  if (view && c.In(0).buffer().owned() && c.In(0).contiguous() && !plan_->is_placed(y)) {
    At(y) = Datum(Tensor::View(c.In(0).buffer(), types[0].dtype, types[0].shape.Concrete()));
    step.kernel_name = "view";
    return {};
  }
  KernelQuery query = QueryOf(node, c.inputs, types);
  query.weight = step.step->weights;
  query.bf16 = engine_.model->rounding().bf16, query.fast_math = engine_.model->rounding().fast_math;
  const KernelEntry* entry = nullptr;
  if (!view) {
    TERN_ASSIGN(entry, engine_.model->Choose(node, query, engine_.workers.threads()));
  }
  if (!entry && !view) return RunFallback(step);
  if (entry && engine_.options.explain) TERN_TRY(ExplainDynamic(step, query));
  for (size_t i = 0; i < types.size(); ++i)
    TERN_TRY(PlaceDynamic(step.node().outputs[i], types[i].dtype, types[i].shape.Concrete()));
  if (view) {
    if (c.Out(0).bytes()) std::memcpy(c.Out(0).raw(), c.In(0).Contiguous().raw(), c.Out(0).bytes());
    step.kernel_name = "copy";
    return {};
  }
  if (entry != step.entry || !step.kernel) {
    TERN_ASSIGN(step.kernel,
                engine_.model->kernel_store().Prepared(node, *entry, query, nullptr, engine_.stop));
    step.entry = entry;
  }
  step.kernel_name = entry->name.c_str();
  ResizeContext resize(query, engine_.workers.threads());
  TERN_TRY(step.kernel->Resize(resize));
  TERN_ASSIGN(const Buffer scratch, engine_.pool.Take(resize.scratch()));
  c.scratch_memory = scratch.data();
  return step.kernel->Run(c);
}

}  // namespace tern
