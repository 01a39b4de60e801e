#include "runtime/exec/runner.h"

#include <algorithm>

namespace tern {

Result<Plan*> Runner::Prepare(const std::vector<BoundValue>& bound) {
  for (auto it = plans_.begin(); it != plans_.end(); ++it) {
    if (!(*it)->Matches(bound)) continue;
    std::rotate(plans_.begin(), it, it + 1);
    return plans_.front().get();
  }
  TERN_ASSIGN(auto plan, Plan::Compile(engine_, program_, bound));
  if (static_cast<int>(plans_.size()) >= engine_.plan_cache) plans_.pop_back();
  plans_.insert(plans_.begin(), std::move(plan));
  return plans_.front().get();
}

Result<Plan*> Runner::Run(const std::vector<BoundValue>& bound) {
  TERN_ASSIGN(Plan * plan, Prepare(bound));
  TERN_TRY(plan->Run(engine_, bound));
  return plan;
}

Engine::Engine(std::shared_ptr<Model> shared_model, Workers slice, int cache, size_t limit)
    : model(std::move(shared_model)),
      workers(slice),
      plan_cache(std::max(1, cache)),
      memory_limit(limit),
      pool(limit) {}

Engine::~Engine() = default;

Runner& Engine::RunnerFor(const Program& program) {
  auto& runner = runners_[&program];
  if (!runner) runner = std::make_unique<Runner>(*this, program);
  return *runner;
}

Arena& Engine::ArenaAt(int depth) {
  while (static_cast<int>(arenas_.size()) <= depth) arenas_.push_back(std::make_unique<Arena>());
  return *arenas_[static_cast<size_t>(depth)];
}

size_t Engine::arena_bytes() const {
  size_t bytes = 0;
  for (const auto& arena : arenas_) bytes += arena->size();
  return bytes;
}

}  // namespace tern
