// The interface of engines that run models. src/server/backend implements it for engines of the C interface
// include/tern/backend.h.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/stop.h"
#include "server/core/call.h"
#include "server/core/model_config.h"

namespace tern::server {

// A row of a batch whose request the model wants to execute again (iterative sequences).
struct AgainRow {
  uint64_t row = 0;
  bool respond = false;  // send the row's outputs as a response that is not the last one
};

// One batch: the tensors of all its requests, concatenated along the batch dim.
struct Batch {
  std::vector<WireTensor> inputs;
  // The names of the outputs that any request asks for. Empty if all are needed.
  std::vector<std::string> outputs;
  int threads = 1;  // the number of threads that the execution may use
  Stop stop;
  // The request of each row. A null request is an empty slot of a sequence batch. The items of a request are
  // consecutive rows. Null pointers if the requests are not known.
  const std::vector<const Request*>* requests = nullptr;
  const std::vector<int64_t>* items = nullptr;  // number of rows per request
  const ModelConfig* config = nullptr;          // of the model; null if it is not known
  std::vector<AgainRow> again;                  // set by BackendInstance::Run
};

// Executes batches of one model, one at a time.
class BackendInstance {
 public:
  virtual ~BackendInstance() = default;
  // Returns one tensor per output that the model produced. The bytes stay valid as long as the returned
  // buffers exist.
  virtual Result<std::vector<WireTensor>> Run(Batch& batch) = 0;
  // For decoupled models. The back end itself sends any number of responses, of which the last is final.
  virtual void RunCall(const std::shared_ptr<Call>& call) = 0;
  // For models that keep something per sequence. Called if a sequence ended, and Run has not seen that.
  virtual void EndSequence(const std::string& /*id*/) {}
};

class BackendModel {
 public:
  virtual ~BackendModel() = default;
  // Fills in the inputs, outputs and max_batch_size that the configuration leaves open. Fails if the
  // configuration contradicts the model.
  virtual Status Complete(ModelConfig& config) = 0;
  virtual Result<std::unique_ptr<BackendInstance>> CreateInstance() = 0;
  virtual size_t MemoryBytes() const = 0;
  // True if one batch may use several threads (Batch::threads).
  virtual bool Parallel() const { return false; }
  // True if RunCall executes a decoupled model. If false, Run executes it in batches.
  virtual bool RunsCalls() const { return true; }
  // True if EndSequence has to be called.
  virtual bool KeepsSequences() const { return false; }
  // Returns values that the back end reports about the model, by name. The server exports them as Prometheus
  // gauges. Thread-safe.
  virtual std::vector<std::pair<std::string, double>> Metrics() const { return {}; }
};

// The paths of one version of a model.
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
