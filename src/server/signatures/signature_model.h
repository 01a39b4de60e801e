// A model version with several signatures. Each signature is a separate version in the scheduler.
#pragma once
#include "server/core/model_version.h"
#include "server/scheduler/removable.h"

namespace tern::server {

// Thread-safe. The configuration is that of the default signature. Requests without a signature go to the
// default signature. All signatures count in the same statistics.
class SignatureModel final : public ModelVersion, public Removable {
 public:
  // `standard` executes the default signature. `all` is sorted by name.
  static std::shared_ptr<SignatureModel> Create(std::shared_ptr<ModelVersion> standard,
                                                std::vector<Signature> all);

  void Submit(std::shared_ptr<Call> call) override;
  bool RefuseIfOverloaded(Call& call) override;
  const std::vector<Signature>* signatures() const override { return &all_; }
  size_t MemoryBytes() const override;
  size_t Pending() const override;
  bool Ready() const override;
  std::shared_ptr<const ModelProcess> process() const override { return standard_->process(); }
  uint64_t Hangs() const override;
  std::vector<std::pair<std::string, double>> Metrics() const override { return standard_->Metrics(); }
  void Drain(std::chrono::milliseconds limit, bool refuse) override;
  bool Drained() const override;

 private:
  void UseStatistics(const std::shared_ptr<ModelStatistics>& statistics) override;
  SignatureModel(std::shared_ptr<ModelVersion> standard, std::vector<Signature> all);
  ModelVersion* Find(const std::string& signature, Status& status) const;

  const std::shared_ptr<ModelVersion> standard_;
  const std::vector<Signature> all_;
  std::vector<std::shared_ptr<ModelVersion>> models_;  // each version once, the default first
};

}  // namespace tern::server
