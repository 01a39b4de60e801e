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
  // resolved: see SessionOptions::Resolved.
  Engine(std::shared_ptr<Model> shared_model, const SessionOptions& resolved);
  ~Engine();

  // Plans of a graph below the model, made on first use.
  Runner& RunnerFor(const Program& program);
  Arena& ArenaAt(int depth);
  size_t arena_bytes() const;

  std::shared_ptr<Model> model;
  const SessionOptions options;
  Workers workers;
  DynamicPool pool;
  RunObserver* observer = nullptr;
  Stop stop;
  std::set<const Node*> fallbacks;  // nodes that some plan runs by the reference evaluator

 private:
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::map<const Program*, std::unique_ptr<Runner>> runners_;
};

}  // namespace tern
