// What one session owns besides its plans: memory, a slice of the threads, an observer. Used by one thread at
// a time.
#pragma once
#include <map>
#include <memory>
#include <set>

#include "base/stop.h"
#include "ir/eval_context.h"
#include "runtime/exec/observer.h"
#include "runtime/memory/dynamic_pool.h"
#include "runtime/model/model.h"

namespace tern {

class Runner;

// Grows, never shrinks. All plans of one depth share one arena, since they never run at the same time.
class Arena {
 public:
  void Reserve(size_t bytes) {
    if (bytes > buffer_.size()) buffer_ = Buffer::Allocate(bytes);
  }
  std::byte* data() const { return buffer_.data(); }
  size_t size() const { return buffer_.size(); }

 private:
  Buffer buffer_;
};

struct Engine {
  Engine(std::shared_ptr<Model> shared_model, Workers slice, int cache, size_t limit);
  ~Engine();

  // Plans of a graph below the model, made on first use.
  Runner& RunnerFor(const Program& program);
  Arena& ArenaAt(int depth);
  size_t arena_bytes() const;

  std::shared_ptr<Model> model;
  Workers workers;
  int plan_cache;
  size_t memory_limit;
  DynamicPool pool;
  RunObserver* observer = nullptr;
  Stop stop;
  size_t collect_limit = DefaultCollectLimit();
  std::set<const Node*> fallbacks;  // nodes that some plan runs by the reference evaluator
  bool explain = false;             // plans say why they have the kernels they have

 private:
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::map<const Program*, std::unique_ptr<Runner>> runners_;
};

}  // namespace tern
