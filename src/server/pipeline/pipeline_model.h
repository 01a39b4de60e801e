// A model with a pipeline. A request with pictures, sounds or texts (BYTES) goes through the pipeline's
// steps. A request with the model's own tensors goes to the model as if there were no pipeline.
#pragma once
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "pipeline/work.h"
#include "server/core/model_version.h"
#include "server/core/worker_threads.h"
#include "server/scheduler/removable.h"

namespace tern::server {

class PipelineCall;

// The parts of a PipelineModel.
struct PipelineParts {
  std::shared_ptr<const pipeline::Steps> steps;
  std::shared_ptr<ModelVersion> tensors;   // the model; null if clients cannot send its tensors
  std::shared_ptr<ModelVersion> prepared;  // the model with the pipeline's ops
  std::shared_ptr<WorkerThreads> workers;  // read items and make results
};

// Thread-safe.
class PipelineModel final : public ModelVersion,
                            public Removable,
                            public std::enable_shared_from_this<PipelineModel> {
 public:
  // `config` is what ClientConfig returned for the parts.
  static std::shared_ptr<PipelineModel> Create(ModelConfig config, std::string version, PipelineParts parts);

  void Submit(std::shared_ptr<Call> call) override;
  bool RefuseIfOverloaded(Call& call) override { return parts_.prepared->RefuseIfOverloaded(call); }
  size_t MemoryBytes() const override {
    return (parts_.tensors ? parts_.tensors->MemoryBytes() : 0) + parts_.prepared->MemoryBytes();
  }
  size_t Pending() const override;
  std::vector<std::pair<std::string, double>> Metrics() const override { return parts_.prepared->Metrics(); }
  void Drain(std::chrono::milliseconds limit, bool refuse) override;
  bool Drained() const override;
  const PipelineParts& parts() const { return parts_; }

 private:
  friend class PipelineCall;
  PipelineModel(ModelConfig config, std::string version, PipelineParts parts)
      : ModelVersion(std::move(config), std::move(version)), parts_(std::move(parts)) {}
  void UseStatistics(const std::shared_ptr<ModelStatistics>& statistics) override;
  // Returns whether an input of the request is one of the pipeline's.
  bool IsRaw(const Request& request) const;
  void Forget(PipelineCall* call);

  const PipelineParts parts_;
  mutable std::mutex mutex_;
  std::map<PipelineCall*, std::shared_ptr<PipelineCall>> running_;
  bool draining_ = false;
  std::condition_variable drained_;
};

// Returns what clients see: inputs of type BYTES, one element per item, and outputs. `json` and `proto` are
// still those of the model.
ModelConfig ClientConfig(const PipelineParts& parts);

}  // namespace tern::server
