#include "server/signatures/signature_model.h"

#include <algorithm>

#include "server/scheduler/execution.h"

namespace tern::server {

SignatureModel::SignatureModel(std::shared_ptr<ModelVersion> standard, std::vector<Signature> all)
    : ModelVersion(standard->config(), standard->version()),
      standard_(std::move(standard)),
      all_(std::move(all)),
      models_{standard_} {
  for (const Signature& signature : all_)
    if (signature.model && std::find(models_.begin(), models_.end(), signature.model) == models_.end())
      models_.push_back(signature.model);
}

std::shared_ptr<SignatureModel> SignatureModel::Create(std::shared_ptr<ModelVersion> standard,
                                                       std::vector<Signature> all) {
  std::shared_ptr<SignatureModel> out(new SignatureModel(std::move(standard), std::move(all)));
  out->SetLoadTime(out->standard_->load_time());
  out->ResetStatistics();
  return out;
}

void SignatureModel::UseStatistics(const std::shared_ptr<ModelStatistics>& statistics) {
  ModelVersion::UseStatistics(statistics);
  for (const auto& model : models_) model->ShareStatistics(*this);
}

// Returns null and sets `status` if the signature is unknown or could not be loaded.
ModelVersion* SignatureModel::Find(const std::string& signature, Status& status) const {
  if (signature.empty()) return standard_.get();
  for (const Signature& candidate : all_) {
    if (candidate.name != signature) continue;
    status = candidate.status;
    return candidate.model.get();
  }
  status = InvalidArgument("model '", config().name, "' has no signature '", signature, "'");
  return nullptr;
}

void SignatureModel::Submit(std::shared_ptr<Call> call) {
  Response response;
  if (ModelVersion* model = Find(call->request.signature, response.status))
    return model->Submit(std::move(call));
  SetTimes(call->times, Clock::now());
  statistics().AddFailure(call->times, call->request.arrived, FailReason::kOther);
  call->Respond(std::move(response));
}

bool SignatureModel::RefuseIfOverloaded(Call& call) {
  Status status;
  ModelVersion* model = Find(call.request.signature, status);
  return model && model->RefuseIfOverloaded(call);
}

size_t SignatureModel::MemoryBytes() const {
  size_t sum = 0;
  for (const auto& model : models_) sum += model->MemoryBytes();
  return sum;
}

size_t SignatureModel::Pending() const {
  size_t sum = 0;
  for (const auto& model : models_) sum += model->Pending();
  return sum;
}

void SignatureModel::Drain(std::chrono::milliseconds limit, bool refuse) {
  const auto deadline =
      Clock::now() + std::clamp(limit, std::chrono::milliseconds(0), std::chrono::milliseconds(86'400'000));
  for (const auto& model : models_)
    if (auto* removable = dynamic_cast<Removable*>(model.get()))
      removable->Drain(
          std::max(std::chrono::milliseconds(0),
                   std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now())),
          refuse);
}

bool SignatureModel::Drained() const {
  return std::all_of(models_.begin(), models_.end(), [](const auto& model) {
    const auto* removable = dynamic_cast<const Removable*>(model.get());
    return !removable || removable->Drained();
  });
}

}  // namespace tern::server
