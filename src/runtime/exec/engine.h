// The run-time resources of one session: memory, workers, observer. Not thread-safe.
#pragma once
#include <map>
#include <memory>
#include <set>

#include "base/stop.h"
#include "core/memory_space.h"
#include "ir/eval_context.h"
#include "runtime/exec/observer.h"
#include "runtime/memory/dynamic_pool.h"
#include "runtime/model/model.h"

namespace tern {

class Runner;
class StatefulRunner;

// Memory of intermediate values. An arena grows, but never shrinks. All plans of one nesting depth share an
// arena, because a session never runs two of them at the same time.
class Arena {
 public:
  explicit Arena(MemorySpace* memory) : memory_(memory) {}
  Status Reserve(size_t bytes) {
    if (bytes <= buffer_.size()) return {};
    buffer_ = Buffer();  // frees the old memory before new memory is allocated
    TERN_ASSIGN(buffer_, (memory_ ? *memory_ : HostMemory()).Allocate(bytes));
    return {};
  }
  MemorySpace* memory() const { return memory_; }  // null for host memory
  std::byte* data() const { return buffer_.data(); }
  size_t size() const { return buffer_.size(); }

 private:
  MemorySpace* memory_;
  Buffer buffer_;
};

struct Engine {
  // `resolved` must come from SessionOptions::Resolved.
  Engine(std::shared_ptr<Model> shared_model, const SessionOptions& resolved);
  ~Engine();

  // Returns the runner of the main graph or of a subgraph. Creates it on first use.
  Runner& RunnerFor(const Program& program);
  // Returns the runner of a nested graph with states. Creates it on first use.
  StatefulRunner& StatefulRunnerFor(const Program& program);
  const auto& stateful_runners() const { return stateful_; }
  Arena& ArenaAt(int depth, MemorySpace* memory = nullptr);
  size_t arena_bytes() const;

  std::shared_ptr<Model> model;
  const SessionOptions options;
  Workers workers;      // its thread count determines plans and scratch memory
  Workers run_workers;  // executes the runs; has at most as many threads as `workers`
  DynamicPool pool;
  RunObserver* observer = nullptr;
  Stop stop;
  std::set<const Node*> fallbacks;  // nodes that the reference evaluator runs in at least one plan

 private:
  std::map<std::pair<int, MemorySpace*>, std::unique_ptr<Arena>> arenas_;  // keyed by depth and memory
  std::map<const Program*, std::unique_ptr<Runner>> runners_;
  std::map<const Program*, std::unique_ptr<StatefulRunner>> stateful_;
};

}  // namespace tern
