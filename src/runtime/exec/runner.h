// Runs one graph for whatever shapes come: finds the plan for them, or makes one. Keeps the last few.
#pragma once
#include <memory>
#include <vector>

#include "runtime/plan/plan.h"

namespace tern {

class Runner {
 public:
  Runner(Engine& engine, const Program& program) : engine_(engine), program_(program) {}

  // The plan for these values, made when there is none; does not run it.
  Result<Plan*> Prepare(const std::vector<BoundValue>& bound);
  // The plan that ran; its outputs are there until the next run.
  Result<Plan*> Run(const std::vector<BoundValue>& bound);
  const Plan* last() const { return plans_.empty() ? nullptr : plans_.front().get(); }  // null: none so far
  int plan_count() const { return static_cast<int>(plans_.size()); }

 private:
  Engine& engine_;
  const Program& program_;
  std::vector<std::unique_ptr<Plan>> plans_;  // last used first
};

}  // namespace tern
