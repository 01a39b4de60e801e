// A model that is a graph of other models. Tensors are passed from step to step without a copy.
#pragma once
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "server/core/model_version.h"
#include "server/core/registry.h"
#include "server/scheduler/removable.h"

namespace tern::server {

class EnsembleRun;

// Thread-safe.
class EnsembleModel final : public ModelVersion,
                            public Removable,
                            public std::enable_shared_from_this<EnsembleModel> {
 public:
  // Fails if a tensor has no source or two sources, or if the graph has a cycle.
  static Result<std::shared_ptr<EnsembleModel>> Create(ModelConfig config, std::string version,
                                                       const Registry& models);

  void Submit(std::shared_ptr<Call> call) override;
  size_t MemoryBytes() const override { return 0; }
  size_t Pending() const override { return 0; }  // requests wait in the queues of the steps
  void Drain(std::chrono::milliseconds limit, bool refuse) override;
  bool Drained() const override;

 private:
  friend class EnsembleRun;
  EnsembleModel(ModelConfig config, std::string version, const Registry& models)
      : ModelVersion(std::move(config), std::move(version)), models_(models) {}
  void Forget(EnsembleRun* run);  // called when the run is answered

  const Registry& models_;
  mutable std::mutex mutex_;
  std::map<EnsembleRun*, std::weak_ptr<EnsembleRun>> runs_;
  bool draining_ = false;
  std::condition_variable drained_;
};

}  // namespace tern::server
