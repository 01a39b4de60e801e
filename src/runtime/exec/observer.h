// A callback for each step that a session runs. Profiles and traces use it.
#pragma once
#include <cstdint>

#include "ir/graph.h"
#include "kernel_api/kernel.h"

namespace tern {

struct StepEvent {
  int step = 0;   // index in the plan's steps
  int depth = 0;  // number of enclosing graphs: 0 for the main graph, 1 for the body of a loop in it
  const Node* node = nullptr;
  const Node* next = nullptr;  // the node that is fused into the step; the step writes the outputs of `next`
  // "cpu.conv.f32", "reference", "host", "control flow", "copy", "transfer", "view", "shape"
  const char* kernel = "";
  int64_t nanoseconds = 0;
  double share = 1;  // fraction of the node's work that this step does; below 1 if the batch is split
  const RunContext* context = nullptr;  // inputs and outputs, valid during the call
};

// The session calls OnStep on the thread that runs the session. A session without an observer only checks a
// null pointer once per run.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void OnStep(const StepEvent& event) = 0;
};

}  // namespace tern
