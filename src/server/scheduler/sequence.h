// The state of one sequence of requests, and the inputs that the server adds for sequence models.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "server/core/backend.h"
#include "server/scheduler/feeder.h"

namespace tern::server {

// Guarded by the model's lock, except `states`, which only the execution uses while `running` is set.
struct Sequence {
  std::string id;  // a number as text, or a string
  std::deque<QueuedCallPtr> waiting;
  bool generated = false;  // the server made the id, for a request without one
  int instance = -1;       // -1 if the sequence waits for an instance
  bool running = false;
  bool known = false;              // the back end has executed a request of the sequence, but not its end
  bool ending = false;             // the sequence ended, and the back end has to be told
  bool telling = false;            // the back end is being told; until it knows, the id keeps its slot
  bool lost = false;               // the back end lost the sequence while it ran
  Clock::time_point last;          // when a request last arrived or ended
  std::vector<WireTensor> states;  // one per SequenceConfig::states; empty before the first request
};

// Makes control inputs and state inputs, and stores state outputs. Thread-safe.
class SequenceInputs {
 public:
  static Result<SequenceInputs> Create(const ModelConfig& config);

  bool has_ready() const { return has_ready_; }
  Status Add(const Pick& pick, Batch& batch) const;
  // Moves the states from `outputs` to the sequences of `pick`.
  void Keep(const Pick& pick, std::vector<WireTensor>& outputs) const;
  // Returns whether the states of two sequences can be in one batch.
  bool SameStates(const Sequence& a, const Sequence& b) const;

 private:
  explicit SequenceInputs(const ModelConfig& config) : config_(&config) {}
  Result<WireTensor> Control(const ControlInput& control, const Pick& pick) const;
  Result<WireTensor> State(size_t index, const Pick& pick) const;
  bool IsState(const std::string& output) const;
  bool batched() const { return config_->max_batch_size > 0; }

  const ModelConfig* config_;
  bool has_ready_ = false;
  std::vector<WireTensor> initial_;  // one per SequenceConfig::states, without the batch dim
};

}  // namespace tern::server
