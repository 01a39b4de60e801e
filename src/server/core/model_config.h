// What the scheduler and the front ends know about a model. The repository fills these structs from
// config.pbtxt, from YAML, or from the model itself. They are plain data and independent of any file format.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace tern::server {

struct TensorConfig {
  std::string name;
  DType dtype = DType::kInvalid;
  Dims dims;                        // without the batch dim if max_batch_size > 0; -1: any size
  std::optional<Dims> reshape;      // if set, the back end uses these dims instead of `dims`
  bool optional = false;            // inputs only
  bool ragged = false;              // inputs only: items of a batch may differ in shape (allow_ragged_batch)
  std::vector<std::string> labels;  // outputs only: for the classification extension
};

enum class TimeoutAction { kReject, kDelay };

struct QueuePolicy {
  TimeoutAction timeout_action = TimeoutAction::kReject;
  std::chrono::microseconds default_timeout{0};  // 0: none
  bool allow_timeout_override = false;
  uint32_t max_queue_size = 0;  // requests; 0: no limit
};

struct BatchingConfig {
  std::vector<int> preferred_batch_sizes;
  std::chrono::microseconds max_queue_delay{0};
  bool preserve_ordering = false;
  uint64_t priority_levels = 0;
  uint64_t default_priority = 0;
  QueuePolicy default_policy;
  std::map<uint64_t, QueuePolicy> priority_policies;
  std::vector<int> allowed_batch_sizes;  // a batch is padded to the next larger of these; empty: any size
};

// The latency goal that an operator sets. If there is a goal, the scheduler derives batch sizes and delays
// from measured times, and refuses a request at once if it cannot meet the goal.
struct LatencyGoal {
  std::chrono::microseconds p99{0};  // 0: none
};

enum class SequenceStrategy { kDirect, kOldest };

struct ControlInput {
  enum class Kind { kStart, kReady, kEnd, kCorrelationId } kind = Kind::kStart;
  std::string name;
  DType dtype = DType::kInvalid;
  double false_value = 0, true_value = 1;  // not used for kCorrelationId
};

struct StateConfig {
  std::string input, output;
  DType dtype = DType::kInvalid;
  Dims dims;
  bool zero_initial = true;  // if false, the first value is read from initial_file
  std::string initial_file;
};

struct SequenceConfig {
  SequenceStrategy strategy = SequenceStrategy::kDirect;
  // A sequence without requests ends after this time. Iterative: the limit on one iteration; 0: no limit.
  std::chrono::microseconds max_idle{1'000'000};
  std::vector<ControlInput> controls;
  std::vector<StateConfig> states;
  int max_candidates = 0;  // only for kOldest
  bool preserve_ordering = false;
  std::vector<int> preferred_batch_sizes;
  std::chrono::microseconds max_queue_delay{0};
  bool iterative = false;  // each request is a sequence, which the model ends (BackendInstance::Run)
  int min_slots = 1;       // kDirect: a batch with fewer requests waits for max_queue_delay
};

struct EnsembleStep {
  std::string model;
  std::string version;                         // empty: as for a request without a version
  std::map<std::string, std::string> inputs;   // the step's input -> the ensemble's tensor
  std::map<std::string, std::string> outputs;  // the step's output -> the ensemble's tensor
};

// Triton's batch_input. The server computes this additional input from the shapes of the requests in a batch.
struct BatchInput {
  enum class Kind {
    kElementCount,
    kAccumulatedElementCount,
    kAccumulatedElementCountWithZero,
    kMaxElementCountAsShape,
    kItemShape,
    kItemShapeFlatten
  } kind = Kind::kElementCount;
  std::vector<std::string> targets;
  DType dtype = DType::kInvalid;
  std::vector<std::string> sources;
};
// Triton's batch_output. The server splits this output among requests by the sizes of an input.
struct BatchOutput {
  std::vector<std::string> targets;
  std::vector<std::string> sources;
};

struct ModelConfig {
  std::string name;
  std::string platform, backend;
  int max_batch_size = 0;  // 0: the model has no batch dim
  std::vector<TensorConfig> inputs, outputs;
  std::string raw_input;  // pipelines: the input that the body of a raw HTTP request is for; empty: none
  // Pipelines: the model's own inputs and outputs, with the batch dim. Clients may send these, too.
  std::vector<TensorConfig> tensor_inputs, tensor_outputs;
  int instances = 1;
  int threads = 0;  // per execution; 0: the scheduler decides
  std::optional<BatchingConfig> batching;
  std::optional<SequenceConfig> sequence;
  std::vector<EnsembleStep> ensemble;
  std::vector<BatchInput> batch_inputs;
  std::vector<BatchOutput> batch_outputs;
  bool decoupled = false;
  bool response_cache = false;  // if the server has a cache, responses are stored in it
  LatencyGoal goal;
  // The requests of an execution that takes longer are answered with an error. 0: no limit.
  std::chrono::milliseconds execution_timeout{0};
  std::map<std::string, std::string> parameters;
  std::map<std::string, std::string> metric_tags;
  std::string json;   // the complete configuration that GET …/config returns
  std::string proto;  // the same configuration as a serialized message inference.ModelConfig

  const TensorConfig* FindInput(std::string_view input) const;
  const TensorConfig* FindOutput(std::string_view output) const;
};

// WireName(DType::kF32) is "FP32", and WireType("FP32") is DType::kF32. WireName is "" for a type without a
// v2 name. WireType is kInvalid for an unknown name.
const char* WireName(DType dtype);
DType WireType(std::string_view name);

}  // namespace tern::server
