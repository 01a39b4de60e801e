// Updates varying steps. Their dims depend on the length of the states. When the length changes, SetLength
// sets these dims and resizes the kernels.
#include "core/memory_space.h"
#include "runtime/exec/execution.h"
#include "runtime/exec/run_once.h"

namespace tern {

Status Execution::SetLength(int64_t length, int64_t capacity) {
  if (length == length_ && capacity == capacity_) return {};
  // -1 means that not all steps are resized. If a resize fails, the next call resizes all steps again.
  length_ = capacity_ = -1;
  if (const Varying* varying = plan_->varying()) {
    for (const Varying::Values& values : varying->dims) {
      Tensor& t = At(values.slot).tensor;
      for (size_t k = 0; k < values.dims.size(); ++k)
        if (values.dims[k].slope != 0) t.SetDim(static_cast<int>(k), values.dims[k].At(length));
    }
    for (const Varying::Values& values : varying->contents)
      for (size_t k = 0; k < values.dims.size(); ++k)
        StoreLong(At(values.slot).tensor, static_cast<int64_t>(k), values.dims[k].At(length));
  }
  for (StepState& step : steps_)
    if (step.step->varying) TERN_TRY(ResizeStep(step, capacity));
  length_ = length;
  capacity_ = capacity;
  return {};
}

void Execution::MakeQuery(StepState& state) {
  auto query = std::make_unique<KernelQuery>(NodeQuery(state.node().node()));
  query->bf16 = engine_.model->rounding().bf16, query->fast_math = engine_.model->rounding().fast_math;
  for (size_t i = 0; i < state.step->inputs.size(); ++i) {
    const int slot = state.step->inputs[i];
    const bool known = slot >= 0 && plan_->is_known(slot);
    query->inputs.push_back(slot < 0 ? TensorInfo{}
                                     : TensorInfo{At(slot).tensor.dtype(), At(slot).tensor.dims()});
    query->known.push_back(known ? &At(plan_->host_slot(slot)).tensor : nullptr);
    query->weight.push_back(state.step->weights[i]);
  }
  for (int slot : state.step->outputs)
    query->outputs.push_back({At(slot).tensor.dtype(), At(slot).tensor.dims()});
  state.query = std::move(query);
}

Status Execution::ResizeStep(StepState& step, int64_t capacity) {
  for (size_t i = 0; i < step.types.size(); ++i) {  // types for the reference evaluator
    const Tensor& t = At(step.step->outputs[i]).tensor;
    if (!step.kernel && t.defined()) step.types[i].shape = Shape::Of(t.dims());
  }
  if (!step.kernel) return {};
  if (!step.query) MakeQuery(step);
  KernelQuery& query = *step.query;
  for (size_t i = 0; i < query.inputs.size(); ++i)
    if (step.step->inputs[i] >= 0) query.inputs[i].dims = At(step.step->inputs[i]).tensor.dims();
  for (size_t i = 0; i < query.outputs.size(); ++i)
    query.outputs[i].dims = At(step.step->outputs[i]).tensor.dims();
  ResizeContext::Placement placement;
  placement.state_capacity = step.step->on_state ? capacity : 0;
  ResizeContext resize(query, engine_.workers.threads(), placement);
  const Status status = step.kernel->Resize(resize);
  if (!status.ok())
    return Status(status.code(), StrCat(step.node().node().Describe(), ": ", status.message()));
  if (resize.scratch() <= step.step->scratch) {
    if (step.larger_scratch.defined()) ForgetBases();  // the next run uses the arena again
    step.larger_scratch = Buffer();
    return {};
  }
  if (resize.scratch() > step.larger_scratch.size()) {
    MemorySpace& memory = step.step->memory ? *step.step->memory : HostMemory();
    TERN_ASSIGN(step.larger_scratch, memory.Allocate(2 * resize.scratch()));
  }
  step.context.scratch_memory = step.larger_scratch.data();
  return {};
}

}  // namespace tern
