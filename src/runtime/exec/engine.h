// What one session owns besides its plans: memory, a slice of the threads, an observer. Used by one thread at
// a time.
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

// Grows, never shrinks. All plans of one depth share one arena, since they never run at the same time.
class Arena {
 public:
  explicit Arena(MemorySpace* memory) : memory_(memory) {}
  Status Reserve(size_t bytes) {
    if (bytes <= buffer_.size()) return {};
    buffer_ = Buffer();  // before there is another one
    TERN_ASSIGN(buffer_, (memory_ ? *memory_ : HostMemory()).Allocate(bytes));
    return {};
  }
  MemorySpace* memory() const { return memory_; }  // null: the host's
  std::byte* data() const { return buffer_.data(); }
  size_t size() const { return buffer_.size(); }

 private:
  MemorySpace* memory_;
  Buffer buffer_;
};

struct Engine {
  // resolved: see SessionOptions::Resolved.
  Engine(std::shared_ptr<Model> shared_model, const SessionOptions& resolved);
  ~Engine();

  // Plans of a graph below the model, made on first use.
  Runner& RunnerFor(const Program& program);
  Arena& ArenaAt(int depth, MemorySpace* memory = nullptr);
  size_t arena_bytes() const;

  std::shared_ptr<Model> model;
  const SessionOptions options;
  Workers workers;
  DynamicPool pool;
  RunObserver* observer = nullptr;
  Stop stop;
  std::set<const Node*> fallbacks;  // nodes that some plan runs by the reference evaluator

 private:
  std::map<std::pair<int, MemorySpace*>, std::unique_ptr<Arena>> arenas_;  // by depth and memory
  std::map<const Program*, std::unique_ptr<Runner>> runners_;
};

}  // namespace tern
