// Runs one graph for whatever shapes come: takes the model's plan for them, and keeps the last few with
// memory.
#pragma once
#include <memory>
#include <vector>

#include "runtime/exec/execution.h"

namespace tern {

class Runner {
 public:
  Runner(Engine& engine, const Program& program) : engine_(engine), program_(program) {}

  // The plan for these values, made when there is none, with memory; does not run it.
  // length: of the growing states. range: what a plan for several lengths needs, where there is none that
  // matches; null: a plan for these dims.
  Result<Execution*> Prepare(const std::vector<BoundValue>& bound, int64_t length = 0,
                             const LengthRange* range = nullptr);
  // What ran; its outputs are there until the next run.
  Result<Execution*> Run(const std::vector<BoundValue>& bound);
  const Execution* last() const {
    return executions_.empty() ? nullptr : executions_.front().get();
  }  // null: none so far
  int plan_count() const { return static_cast<int>(executions_.size()); }

 private:
  Engine& engine_;
  const Program& program_;
  std::vector<std::unique_ptr<Execution>> executions_;  // last used first
};

}  // namespace tern
