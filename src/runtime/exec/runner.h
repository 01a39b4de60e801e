// Runs one graph for any input shapes. Gets the plans from the model and caches the last executions
// (options.plan_cache).
#pragma once
#include <memory>
#include <vector>

#include "runtime/exec/execution.h"

namespace tern {

class Runner {
 public:
  Runner(Engine& engine, const Program& program) : engine_(engine), program_(program) {}

  // The execution of the plan for these values. Compiles the plan if none matches; does not run it.
  // length: of the growing states. range: compile for all lengths of this range; null: for these dims only.
  Result<Execution*> Prepare(const std::vector<BoundValue>& bound, int64_t length = 0,
                             const LengthRange* range = nullptr);
  // Prepares and runs. The outputs of the result are valid until the next run.
  Result<Execution*> Run(const std::vector<BoundValue>& bound);
  // The execution used last; null: none so far.
  const Execution* last() const { return executions_.empty() ? nullptr : executions_.front().get(); }
  int plan_count() const { return static_cast<int>(executions_.size()); }

 private:
  Engine& engine_;
  const Program& program_;
  std::vector<std::unique_ptr<Execution>> executions_;  // most recently used first
};

}  // namespace tern
