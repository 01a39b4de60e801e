#include "server/dialects/tfs/model_spec.h"

namespace tern::server::tfs {
Result<std::shared_ptr<ModelVersion>> FindVersion(const Registry& models, const ModelSpec& spec) {
  const std::string& version = spec.version;
  if (!spec.label.empty() && !models.Versions(spec.model).empty()) {
    auto labelled = models.FindLabel(spec.model, spec.label);
    if (labelled.ok() || labelled.status().code() != Code::kNotFound) return labelled;
    return InvalidArgument("Unrecognized servable version label: ", spec.label, " of model '", spec.model,
                           "'");
  }
  auto found = models.Find(spec.model, version);
  if (found.ok()) return found;
  if (version.empty()) return NotFound("Servable not found for request: Latest(", spec.model, ")");
  return NotFound("Servable not found for request: Specific(", spec.model, ", ", version, ")");
}

Result<ChosenSignature> ChooseSignature(const ModelVersion& owner, const std::string& name) {
  const std::string wanted = name.empty() ? kDefaultSignature : name;
  const std::vector<Signature>* all = owner.signatures();
  const Signature* only = all && all->size() == 1 ? &all->front() : nullptr;
  if (all)
    for (const Signature& signature : *all) {
      if (signature.name != wanted && !(&signature == only && wanted == kDefaultSignature)) continue;
      TERN_TRY(Status(signature.status));
      return ChosenSignature{signature.name, signature.name, &signature.model->config(), signature.method};
    }
  if (wanted == kDefaultSignature) return ChosenSignature{wanted, "", &owner.config(), ""};
  return InvalidArgument("Serving signature name: \"", wanted, "\" not found in signature def");
}

}  // namespace tern::server::tfs
