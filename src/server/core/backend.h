// What runs a model. Adapters implement it for the C ABI of include/tern/backend.h.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/stop.h"
#include "server/core/call.h"
#include "server/core/model_config.h"

namespace tern::server {

// One batch: the tensors of all its requests, concatenated along the batch dim.
struct Batch {
  std::vector<WireTensor> inputs;
  std::vector<std::string> outputs;  // names of the outputs that at least one request asks for; empty: all
  int threads = 1;                   // the number of threads that the execution may use
  Stop stop;
  // Set if there is a single request: outputs of these names are written to this memory if type and size fit.
  std::vector<RequestedOutput> destinations;
  // State of a sequence model with implicit state, by slot of the batch; see SequenceConfig::states.
};

// Executes batches of one model, one at a time.
class BackendInstance {
 public:
  virtual ~BackendInstance() = default;
  // Returns one tensor per output that the model gave. Their bytes stay valid while the buffers are held.
  virtual Result<std::vector<WireTensor>> Run(Batch& batch) = 0;
  // For models that answer by themselves (decoupled): sends any number of responses, the last one final.
  virtual void RunCall(const std::shared_ptr<Call>& call) = 0;
};

class BackendModel {
 public:
  virtual ~BackendModel() = default;
  // Fills in what the configuration leaves open: inputs, outputs, max_batch_size. Refuses what contradicts
  // the model.
  virtual Status Complete(ModelConfig& config) = 0;
  virtual Result<std::unique_ptr<BackendInstance>> CreateInstance() = 0;
  virtual size_t MemoryBytes() const = 0;
  // True if one batch may use several threads (Batch::threads).
  virtual bool Parallel() const { return false; }
  // Values that the back end reports of itself, by name: gauges of Prometheus. Thread-safe.
  virtual std::vector<std::pair<std::string, double>> Metrics() const { return {}; }
};

// Where a version of a model lies.
struct ModelFiles {
  std::string folder;  // the version's folder, or the parent folder of `file`
  std::string file;    // the model file or folder, absolute
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Result<std::unique_ptr<BackendModel>> Load(const ModelFiles& files, const ModelConfig& config) = 0;
};

}  // namespace tern::server
