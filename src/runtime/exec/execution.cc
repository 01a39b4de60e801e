#include "runtime/exec/execution.h"

#include <algorithm>
#include <chrono>

namespace tern {

Execution::Execution(std::shared_ptr<const Plan> plan, Engine& engine)
    : plan_(std::move(plan)),
      engine_(engine),
      slots_(plan_->slots()),
      redirected_(plan_->layout().storages.size(), -1),
      bases_(plan_->arenas().size()) {
  for (const auto& [memory, bytes] : plan_->arenas())
    arenas_.push_back(&engine_.ArenaAt(plan_->program().depth, memory));
  steps_.reserve(plan_->steps().size());
  for (const Step& step : plan_->steps()) Connect(step);
  if (const Varying* varying = plan_->varying())  // SetLength writes to them: each execution needs its own
    for (const Varying::Values& content : varying->contents)
      At(content.slot) = At(content.slot).tensor.Clone();
  engine_.fallbacks.insert(plan_->fallbacks().begin(), plan_->fallbacks().end());
}

void Execution::Connect(const Step& step) {
  StepState& state = steps_.emplace_back();
  state.step = &step;
  state.kernel = step.kernel ? step.kernel->Clone() : nullptr;
  state.entry = step.entry;
  state.kernel_name = step.kernel_name;
  state.types = step.types;
  state.context.pool = &engine_.run_workers;
  for (int slot : step.inputs) state.context.inputs.push_back(slot < 0 ? nullptr : &At(slot));
  for (int slot : step.outputs) state.context.outputs.push_back(&At(slot));
}

void Execution::BindState(int state, const Buffer& present) {
  const PlanState& s = plan_->states()[static_cast<size_t>(state)];
  if (At(s.present).tensor.raw() == present.data() && !present.owned()) return;
  Rebase(plan_->layout().places[static_cast<size_t>(s.present)].storage, present);
}

void Execution::Rebase(int storage, const Buffer& buffer) {
  for (int slot : plan_->residents(storage)) {
    Tensor& t = At(slot).tensor;
    t.SetBuffer(buffer.Slice(plan_->layout().places[static_cast<size_t>(slot)].offset, t.bytes()));
  }
}

void Execution::RebaseArena(size_t index, const Arena& arena) {
  bases_[index] = arena.data();
  const auto& storages = plan_->layout().storages;
  for (size_t s = 0; s < storages.size(); ++s) {
    if (storages[s].memory != arena.memory() || storages[s].external || storages[s].parent >= 0 ||
        redirected_[s] >= 0)
      continue;
    Rebase(static_cast<int>(s),
           Buffer::Borrow(arena.data() + plan_->offsets()[s], storages[s].bytes, nullptr, arena.memory()));
  }
  for (StepState& step : steps_)
    if (step.step->memory == arena.memory())
      step.context.scratch_memory = step.larger_scratch.defined() ? step.larger_scratch.data()
                                                                  : arena.data() + step.step->scratch_offset;
}

void Execution::BindInput(int slot, const Datum& datum) {
  if (plan_->is_known(slot)) return;
  if (!plan_->is_placed(slot)) {
    At(slot) = datum;
    return;
  }
  const Tensor& t = datum.tensor;
  const int storage = plan_->layout().places[static_cast<size_t>(slot)].storage;
  if (!t.contiguous())
    Rebase(storage, t.Contiguous().buffer());
  else if (t.raw() != At(slot).tensor.raw() || t.buffer().owned())
    Rebase(storage, t.buffer());
}

Status Execution::Bind(const std::vector<BoundValue>& bound) {
  for (size_t i = 0; i < bases_.size(); ++i) {
    TERN_TRY(arenas_[i]->Reserve(std::max<size_t>(1, plan_->arenas()[i].second)));
    if (arenas_[i]->data() != bases_[i]) RebaseArena(i, *arenas_[i]);
  }
  for (int i = 0; i < plan_->program().bound_count(); ++i) BindInput(i, *bound[static_cast<size_t>(i)].datum);
  return {};
}

bool Execution::Redirect(int i, const Tensor& tensor) {
  const int slot = plan_->outputs()[static_cast<size_t>(i)];
  const Place place = plan_->layout().places[static_cast<size_t>(slot)];
  if (place.storage < 0) return false;
  const auto s = static_cast<size_t>(place.storage);
  const Storage& storage = plan_->layout().storages[s];
  if (storage.external || (redirected_[s] >= 0 && redirected_[s] != i)) return false;
  if (!tensor.defined()) {
    if (redirected_[s] == i) {
      redirected_[s] = -1;
      ForgetBases();  // the next run rebases it to the arena
    }
    return true;
  }
  if (place.offset != 0 || storage.bytes != tensor.bytes() || !tensor.contiguous()) return false;
  if (redirected_[s] != i || At(slot).tensor.raw() != tensor.raw()) Rebase(place.storage, tensor.buffer());
  redirected_[s] = i;
  return true;
}

void Execution::Release() {
  const auto& storages = plan_->layout().storages;
  for (size_t s = 0; s < storages.size(); ++s) {
    if (storages[s].external)
      Rebase(static_cast<int>(s), Buffer::Borrow(nullptr, storages[s].bytes, nullptr));
    if (redirected_[s] >= 0) ForgetBases();  // the next run rebases it to the arena
    redirected_[s] = -1;
  }
  for (int i = 0; i < static_cast<int>(slots_.size()); ++i)
    if (!plan_->is_known(i) && !plan_->is_placed(i)) At(i) = Datum();
}

Status Execution::Run(const std::vector<BoundValue>& bound) {
  TERN_TRY(engine_.stop.Check());  // also for a loop whose body has no steps
  TERN_TRY(Bind(bound));
  if (engine_.observer) {
    for (size_t i = 0; i < steps_.size(); ++i) TERN_TRY(RunObserved(steps_[i], static_cast<int>(i)));
    return {};
  }
  for (StepState& step : steps_) TERN_TRY(RunStep(step));
  return {};
}

Status Execution::RunObserved(StepState& step, int index) {
  const auto start = std::chrono::steady_clock::now();
  Status status = RunStep(step);
  const auto spent = std::chrono::steady_clock::now() - start;
  if (!status.ok()) return status;
  StepEvent event;
  event.step = index;
  event.depth = plan_->program().depth;
  event.node = &step.node().node();
  event.next = step.node().next ? step.node().next->node : nullptr;
  event.kernel = step.kernel_name;
  event.share = step.node().share;
  event.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
  event.context = &step.context;
  engine_.observer->OnStep(event);
  return {};
}

Status Execution::RunStep(StepState& step) {
  TERN_TRY(engine_.stop.Check());
  Status status = step.step->dynamic ? RunDynamic(step)
                  : step.kernel      ? step.kernel->Run(step.context)
                                     : RunEvaluator(step);
  if (status.ok()) return status;
  const std::string where = step.node().node().Describe();
  if (status.message().rfind(where, 0) == 0)
    return status;  // inference and kernel selection name the node too
  return Status(status.code(), StrCat(where, ": ", status.message()));
}

}  // namespace tern
