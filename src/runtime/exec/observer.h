// Looking on while a session runs: one call per step.
#pragma once
#include <cstdint>

#include "ir/graph.h"
#include "kernel_api/kernel.h"

namespace tern {

struct StepEvent {
  int step = 0;   // in its plan
  int depth = 0;  // 0: the model; deeper: bodies of control flow
  const Node* node = nullptr;
  const Node* next = nullptr;  // done in the same step: outputs are this one's then
  const char* kernel = "";     // "cpu.conv.f32", "reference", "host", "control flow", "copy", "view", "shape"
  int64_t nanoseconds = 0;
  double share = 1;  // of the node's work that this call did: less where a big batch is done in pieces
  const RunContext* context = nullptr;  // inputs and outputs, valid during the call
};

// Called on the thread that runs the session. Without an observer a step pays one comparison with null.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void OnStep(const StepEvent& event) = 0;
};

}  // namespace tern
