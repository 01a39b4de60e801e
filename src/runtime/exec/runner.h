// Runs one graph for any input shapes. Gets the plans from the model. Caches the options.plan_cache
// executions that were used last.
#pragma once
#include <memory>
#include <vector>

#include "runtime/exec/execution.h"

namespace tern {

class Runner {
 public:
  Runner(Engine& engine, const Program& program) : engine_(engine), program_(program) {}

  // Returns the execution of the plan for these values. Compiles the plan if no plan of the model matches.
  // Does not run the plan. `length` is the length of the growing states. The plan serves all lengths of
  // `range`. If `range` is null, the plan serves only the dims of `bound`.
  Result<Execution*> Prepare(const std::vector<BoundValue>& bound, int64_t length = 0,
                             const LengthRange* range = nullptr);
  // Prepares the plan and runs it. The outputs of the returned execution are valid until the next run.
  Result<Execution*> Run(const std::vector<BoundValue>& bound);
  // Returns the execution that ran or was prepared last, or null.
  const Execution* last() const { return executions_.empty() ? nullptr : executions_.front().get(); }
  int plan_count() const { return static_cast<int>(executions_.size()); }

 private:
  Engine& engine_;
  const Program& program_;
  std::vector<std::unique_ptr<Execution>> executions_;  // most recently used first
};

}  // namespace tern
