#include "runtime/exec/runner.h"

#include <algorithm>

#include "runtime/exec/stateful_runner.h"
#include "runtime/plan/plan_store.h"

namespace tern {

Result<Execution*> Runner::Prepare(const std::vector<BoundValue>& bound, int64_t length,
                                   const LengthRange* range) {
  for (auto it = executions_.begin(); it != executions_.end(); ++it) {
    if (!(*it)->plan().Matches(bound, length)) continue;
    std::rotate(executions_.begin(), it, it + 1);
    return executions_.front().get();
  }
  TERN_ASSIGN(auto plan, engine_.model->plans().Get(
                             {program_, bound, range, length}, engine_.options.plan_cache, engine_.stop,
                             [&] { return Plan::Compile(engine_, program_, bound, range); }));
  if (static_cast<int>(executions_.size()) >= engine_.options.plan_cache) executions_.pop_back();
  executions_.insert(executions_.begin(), std::make_unique<Execution>(std::move(plan), engine_));
  return executions_.front().get();
}

Result<Execution*> Runner::Run(const std::vector<BoundValue>& bound) {
  TERN_ASSIGN(Execution * execution, Prepare(bound));
  TERN_TRY(execution->Run(bound));
  return execution;
}

Engine::Engine(std::shared_ptr<Model> shared_model, const SessionOptions& resolved)
    : model(std::move(shared_model)),
      options(resolved),
      workers(resolved.threads),
      run_workers(workers),
      pool(resolved.memory_limit) {}

Engine::~Engine() = default;

Runner& Engine::RunnerFor(const Program& program) {
  auto& runner = runners_[&program];
  if (!runner) runner = std::make_unique<Runner>(*this, program);
  return *runner;
}

StatefulRunner& Engine::StatefulRunnerFor(const Program& program) {
  auto& runner = stateful_[&program];
  if (!runner) runner = std::make_unique<StatefulRunner>(*this, program);
  return *runner;
}

Arena& Engine::ArenaAt(int depth, MemorySpace* memory) {
  auto& arena = arenas_[{depth, memory}];
  if (!arena) arena = std::make_unique<Arena>(memory);
  return *arena;
}

size_t Engine::arena_bytes() const {
  size_t bytes = 0;
  for (const auto& [key, arena] : arenas_) bytes += arena->size();
  return bytes;
}

}  // namespace tern
