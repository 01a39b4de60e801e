#include "server/scheduler/scheduler.h"

#include "base/cores.h"
#include "server/scheduler/ensemble.h"
#include "server/scheduler/executor.h"
#include "server/scheduler/model_runner.h"

namespace tern::server {
namespace {

class FairScheduler final : public Scheduler {
 public:
  explicit FairScheduler(const SchedulerOptions& options)
      : options_(options),
        executor_(std::make_shared<Executor>(options.threads > 0 ? options.threads : UsableCores())) {}

  // Other objects may still own versions. These versions refuse requests from now on.
  ~FairScheduler() override {
    for (const auto& weak : Added())
      if (const auto version = weak.lock()) Remove(version, std::chrono::milliseconds(0));
    executor_->Stop();
  }

  Result<std::shared_ptr<ModelVersion>> Add(ModelConfig config, std::string version,
                                            std::unique_ptr<BackendModel> model) override {
    TERN_ASSIGN(
        std::shared_ptr<ModelVersion> added,
        ModelRunner::Create(std::move(config), std::move(version), std::move(model), executor_, options_));
    return Remember(std::move(added));
  }

  Result<std::shared_ptr<ModelVersion>> AddEnsemble(ModelConfig config, std::string version,
                                                    const Registry& models) override {
    TERN_ASSIGN(std::shared_ptr<ModelVersion> added,
                EnsembleModel::Create(std::move(config), std::move(version), models));
    return Remember(std::move(added));
  }

  std::shared_ptr<Executor> executor() override { return executor_; }

  void SetBackground(const std::shared_ptr<ModelVersion>& version, bool background) override {
    if (auto* runner = dynamic_cast<ModelRunner*>(version.get())) runner->SetBackground(background);
  }

  void Remove(const std::shared_ptr<ModelVersion>& version, std::chrono::milliseconds limit) override {
    if (auto* removable = dynamic_cast<Removable*>(version.get())) removable->Drain(limit, true);
  }
  void Retire(const std::shared_ptr<ModelVersion>& version, std::chrono::milliseconds limit) override {
    if (auto* removable = dynamic_cast<Removable*>(version.get())) removable->Drain(limit, false);
  }
  bool Retired(const std::shared_ptr<ModelVersion>& version) override {
    const auto* removable = dynamic_cast<const Removable*>(version.get());
    return !removable || removable->Drained();
  }

 private:
  std::shared_ptr<ModelVersion> Remember(std::shared_ptr<ModelVersion> version) {
    const std::lock_guard lock(mutex_);
    std::erase_if(added_, [](const auto& weak) { return weak.expired(); });
    added_.push_back(version);
    return version;
  }
  std::vector<std::weak_ptr<ModelVersion>> Added() {
    const std::lock_guard lock(mutex_);
    return std::move(added_);
  }

  const SchedulerOptions options_;
  const std::shared_ptr<Executor> executor_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<ModelVersion>> added_;
};

}  // namespace

std::unique_ptr<Scheduler> Scheduler::Create(const SchedulerOptions& options) {
  return std::make_unique<FairScheduler>(options);
}

}  // namespace tern::server
