#include "runtime/plan/plan.h"

#include <chrono>
#include <cstring>

namespace tern {

bool Plan::Matches(const std::vector<BoundValue>& bound) const {
  for (size_t i = 0; i < keys_.size(); ++i) {
    const BoundKey& key = keys_[i];
    const Datum& d = *bound[i].datum;
    if (d.kind != key.kind) return false;
    if (!d.is_tensor()) continue;
    if (d.tensor.dtype() != key.dtype || d.tensor.dims() != key.dims) return false;
    if (key.known.defined() && !(bound[i].known && SameTensor(key.known, d.tensor))) return false;
  }
  return true;
}

void Plan::Rebase(int storage, const Buffer& buffer) {
  for (int slot : residents_[static_cast<size_t>(storage)]) {
    Tensor& t = slots_[static_cast<size_t>(slot)].tensor;
    t.SetBuffer(buffer.Slice(layout_.places[static_cast<size_t>(slot)].offset, t.bytes()));
  }
}

void Plan::RebaseArena(const Arena& arena) {
  base_ = arena.data();
  for (size_t s = 0; s < layout_.storages.size(); ++s) {
    const Storage& storage = layout_.storages[s];
    if (storage.external || storage.parent >= 0 || redirected_[s] >= 0) continue;
    Rebase(static_cast<int>(s), Buffer::Borrow(arena.data() + offsets_[s], storage.bytes, nullptr));
  }
  for (Step& step : steps_) step.context.scratch_memory = arena.data() + step.scratch_offset;
}

void Plan::BindInput(int slot, const Datum& datum) {
  const auto i = static_cast<size_t>(slot);
  if (known_[i]) return;
  if (!placed_[i]) {
    slots_[i] = datum;
    return;
  }
  const Tensor& t = datum.tensor;
  if (!t.contiguous())
    Rebase(layout_.places[i].storage, t.Contiguous().buffer());
  else if (t.raw() != slots_[i].tensor.raw() || t.buffer().owned())
    Rebase(layout_.places[i].storage, t.buffer());
}

void Plan::Bind(Engine& engine, const std::vector<BoundValue>& bound) {
  Arena& arena = engine.ArenaAt(program_.depth);
  arena.Reserve(arena_bytes_ ? arena_bytes_ : 1);
  if (arena.data() != base_) RebaseArena(arena);
  for (int i = 0; i < program_.bound_count(); ++i) BindInput(i, *bound[static_cast<size_t>(i)].datum);
}

bool Plan::Redirect(int i, const Tensor& tensor) {
  const int slot = outputs_[static_cast<size_t>(i)];
  const Place place = layout_.places[static_cast<size_t>(slot)];
  if (place.storage < 0) return false;
  const auto s = static_cast<size_t>(place.storage);
  const Storage& storage = layout_.storages[s];
  if (storage.external || (redirected_[s] >= 0 && redirected_[s] != i)) return false;
  if (!tensor.defined()) {
    if (redirected_[s] == i) {
      redirected_[s] = -1;
      base_ = nullptr;  // the next run points it into the arena again
    }
    return true;
  }
  if (place.offset != 0 || storage.bytes != tensor.bytes() || !tensor.contiguous()) return false;
  if (redirected_[s] != i || slots_[static_cast<size_t>(slot)].tensor.raw() != tensor.raw())
    Rebase(place.storage, tensor.buffer());
  redirected_[s] = i;
  return true;
}

void Plan::Release() {
  for (size_t s = 0; s < layout_.storages.size(); ++s) {
    const Storage& storage = layout_.storages[s];
    if (storage.external) Rebase(static_cast<int>(s), Buffer::Borrow(nullptr, storage.bytes, nullptr));
    if (redirected_[s] >= 0) base_ = nullptr;  // the next run points it into the arena again
    redirected_[s] = -1;
  }
  for (size_t i = 0; i < slots_.size(); ++i)
    if (!known_[i] && !placed_[i]) slots_[i] = Datum();
}

Status Plan::Run(Engine& engine, const std::vector<BoundValue>& bound) {
  TERN_TRY(engine.stop.Check());  // also for a loop whose body has no steps
  Bind(engine, bound);
  if (engine.observer) {
    for (size_t i = 0; i < steps_.size(); ++i) TERN_TRY(RunObserved(engine, steps_[i], static_cast<int>(i)));
    return {};
  }
  for (Step& step : steps_) TERN_TRY(RunStep(engine, step));
  return {};
}

Status Plan::RunObserved(Engine& engine, Step& step, int index) {
  const auto start = std::chrono::steady_clock::now();
  Status status = RunStep(engine, step);
  const auto spent = std::chrono::steady_clock::now() - start;
  if (!status.ok()) return status;
  StepEvent event;
  event.step = index;
  event.depth = program_.depth;
  event.node = &step.node->node();
  event.next = step.node->next ? step.node->next->node : nullptr;
  event.kernel = step.kernel_name;
  event.share = step.node->share;
  event.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
  event.context = &step.context;
  engine.observer->OnStep(event);
  return {};
}

Status Plan::RunStep(Engine& engine, Step& step) {
  TERN_TRY(engine.stop.Check());
  Status status = step.dynamic  ? RunDynamic(engine, step)
                  : step.kernel ? step.kernel->Run(step.context)
                                : RunEvaluator(engine, step);
  if (status.ok()) return status;
  const std::string where = step.node->node().Describe();
  if (status.message().rfind(where, 0) == 0) return status;  // inference and choice of kernels say it too
  return Status(status.code(), StrCat(where, ": ", status.message()));
}

}  // namespace tern
