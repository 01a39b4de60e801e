#include "server/signatures/load_signatures.h"

#include <algorithm>

#include "server/backend/snapshot.h"
#include "server/core/log.h"
#include "server/repository/layout.h"
#include "server/signatures/saved_model.h"
#include "server/signatures/signature_model.h"

namespace tern::server {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;
constexpr const char* kDefault = "serving_default";

const Signature* FindSignature(const std::vector<Signature>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool SameTensors(const std::vector<SignatureTensor>& a, const std::vector<SignatureTensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.name == y.name && x.tensor == y.tensor; });
}

// Returns the configuration for a signature. The model supplies its inputs and outputs. `open`: the model
// also supplies the batch size.
ModelConfig ConfigOf(const ModelConfig& given, const std::string& signature, bool open) {
  ModelConfig config = given;
  config.inputs.clear();
  config.outputs.clear();
  config.batch_inputs.clear();
  config.batch_outputs.clear();
  config.parameters[kSignatureParameter] = signature;
  if (open) config.max_batch_size = 0;
  return config;
}

Result<std::shared_ptr<ModelVersion>> Add(const ModelFiles& files, ModelConfig config, Backend& backend,
                                          Scheduler& scheduler, const std::string& version) {
  TERN_ASSIGN(std::unique_ptr<BackendModel> model, backend.Load(files, config));
  TERN_TRY(model->Complete(config));
  return scheduler.Add(std::move(config), version, std::move(model));
}

// Adds one signature. The configured batch size is that of the default signature. Another signature may have
// no batch dim.
Result<std::shared_ptr<ModelVersion>> AddOne(const ModelFiles& files, const ModelConfig& given,
                                             const std::string& name, Backend& backend, Scheduler& scheduler,
                                             const std::string& version) {
  auto added = Add(files, ConfigOf(given, name, false), backend, scheduler, version);
  if (added.ok() || given.max_batch_size == 0) return added;
  return Add(files, ConfigOf(given, name, true), backend, scheduler, version);
}

}  // namespace

Result<std::shared_ptr<ModelVersion>> AddSignatures(const ModelFiles& files, const ModelConfig& given,
                                                    Backend& backend, Scheduler& scheduler,
                                                    std::shared_ptr<ModelVersion> standard) {
  if (files.file.empty() || given.sequence || given.decoupled) return standard;
  const Buffer bytes = ReadSnapshot(files.file + "/saved_model.pb", kMostBytes);
  if (!bytes.defined()) return standard;
  auto read = ReadSignatures({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!read.ok()) return standard;  // the importer has accepted the file, for example as another message
  std::vector<Signature> all = std::move(*read);
  const auto chosen = given.parameters.find(kSignatureParameter);
  const bool one = chosen != given.parameters.end();
  const std::string name = one ? chosen->second : all.size() == 1 ? all[0].name : kDefault;
  const Signature* first = FindSignature(all, name);
  if (!first) return standard;
  if (one) all = std::vector<Signature>{Signature(*first)};
  const Signature own = *FindSignature(all, name);
  for (Signature& signature : all) {
    if (SameTensors(signature.inputs, own.inputs) && SameTensors(signature.outputs, own.outputs)) {
      signature.model = standard;
      continue;
    }
    auto added =
        Guard([&] { return AddOne(files, given, signature.name, backend, scheduler, standard->version()); });
    if (added.ok()) {
      signature.model = std::move(*added);
      continue;
    }
    const Status why = HidePaths(added.TakeStatus(), {given.name, files.folder, files.file, true});
    signature.status = Unsupported("signature '", signature.name, "' of model '", given.name,
                                   "' could not be loaded: ", why.message());
    Log(LogLevel::kWarning, signature.status.message());
  }
  return std::shared_ptr<ModelVersion>(SignatureModel::Create(std::move(standard), std::move(all)));
}

}  // namespace tern::server
