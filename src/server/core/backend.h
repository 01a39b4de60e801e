// The interface of engines that run models. src/server/backend implements it for engines of the C interface
// include/tern/backend.h.
#pragma once
#include <functional>
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

// Memory for the outputs of a batch.
class OutputMemory {
 public:
  virtual ~OutputMemory() = default;
  // Returns memory that is aligned to 64 bytes, or an undefined buffer if there is none. The memory is valid
  // until the batch ends.
  virtual Buffer Allocate(size_t bytes) = 0;
};

// One batch: the tensors of all its requests, concatenated along the batch dim.
struct Batch {
  std::vector<WireTensor> inputs;
  // The names of the outputs that any request asks for. Empty if all are needed.
  std::vector<std::string> outputs;
  int threads = 1;  // the number of threads that the execution may use
  Stop stop;
  // The requests, in the order of their rows. A null request is an empty slot of a sequence batch. The items
  // of a request are in consecutive rows. `requests` and `items` are null if the requests are not known.
  const std::vector<const Request*>* requests = nullptr;
  const std::vector<int64_t>* items = nullptr;  // number of rows per request
  const ModelConfig* config = nullptr;          // of the model; null if it is not known
  OutputMemory* memory = nullptr;               // null: outputs are in memory of the back end's choice
  uint64_t epoch = 0;                           // ModelProcess::epoch when the batch was formed
  std::vector<AgainRow> again;                  // set by BackendInstance::Run
  // Set by an isolated model. cpu_elsewhere is the processor time of its process. `lost`: the process ended,
  // perhaps because of one of these requests. `timed_out`: the execution took too long. In both cases, the
  // requests must not be run again.
  std::chrono::nanoseconds cpu_elsewhere{0};
  bool lost = false, timed_out = false;
};

// The child process of an isolated model. Thread-safe.
class ModelProcess {
 public:
  // kRestarting: requests should wait in their queue. kDown: requests fail.
  enum class State : uint8_t { kUp, kRestarting, kDown };
  virtual ~ModelProcess() = default;
  virtual State state() const = 0;
  // The number of processes that were started. When the process ends, all that the back end keeps per
  // sequence is lost.
  virtual uint64_t epoch() const = 0;
  // Sets the action that runs after each change of the state, on a thread of the process's owner. It must not
  // block.
  virtual void OnChange(std::function<void()> action) = 0;
  // How often the process ended without being told to, by reason.
  virtual std::vector<std::pair<std::string, uint64_t>> Ends() const = 0;
  virtual int64_t pid() const = 0;  // -1 if there is no process
  // Ends the process, because nobody waits for what it executes.
  virtual void End() {}
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
  // For models that keep something per sequence. Called when a sequence ended without a successful Run of its
  // end, for example because it was cancelled or idle for too long.
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
  // The process in which the model runs, if that is not the server's. Owned by the model.
  virtual ModelProcess* process() const { return nullptr; }
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
