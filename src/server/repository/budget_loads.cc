// The parts of Loader that load models under a memory budget.
#include <algorithm>
#include <filesystem>

#include "model_config.pb.h"
#include "server/backend/pipeline_engine.h"
#include "server/pipeline/pipeline_model.h"
#include "server/repository/golden.h"
#include "server/repository/loader.h"

namespace tern::server {

namespace {

// Returns whether front ends also use the tokenizer or the parts of this version.
bool UsedWhole(ModelVersion& version) {
  if (version.generator()) return true;
  auto* model = dynamic_cast<PipelineModel*>(&version);
  if (!model) return false;
  const auto& inputs = model->parts().steps->binding().inputs;
  return std::any_of(inputs.begin(), inputs.end(), [](const pipeline::BoundInput& input) {
    return input.kind == pipeline::BoundInput::Kind::kTokens;
  });
}

}  // namespace

std::optional<ModelConfig> Loader::KnownConfig(const ModelSource& source, const LoadPlan& plan,
                                               const std::string& version) const {
  const ConfigMessage& message = *plan.message;
  // A plug-in may add to the configuration what front ends must know, such as that it is decoupled.
  if (!IsBuiltIn(message.backend()) || message.parameters().count("tern_generator")) return {};
  if (source.file.empty() && HasGoldenRequests(source.folder, version)) return {};
  auto config = ConvertConfig(message, source.folder);
  if (!config.ok() || !CheckComplete(*config).ok() || !CheckConfig(message, true).ok()) return {};
  const auto files = FindFiles(source, version, message.default_model_filename(), true);
  if (!files.ok()) return {};
  std::error_code error;
  if (std::filesystem::is_directory(files->file, error)) return {};  // it may have signatures
  const auto pipeline = PipelineOf(*files, *config);
  if (!pipeline.ok() || !pipeline->empty()) return {};
  return std::move(*config);
}

Result<std::shared_ptr<ModelVersion>> Loader::LoadUnderBudget(const ModelSource& source, const LoadPlan& plan,
                                                              const std::string& version,
                                                              const std::string& fingerprint,
                                                              const std::string& config_json, Trials trials,
                                                              bool now) const {
  const auto message = plan.message;
  if (!budget_ || plan.ensemble) {
    ConfigMessage own = *message;
    return LoadVersion(source, version, own, trials);
  }
  const auto account = std::make_shared<Account>();
  account->model = source.name;
  account->version = version;
  account->pinned = plan.life_cycle.pinned;
  account->file_bytes = FileBytes(source.file.empty() ? source.folder + "/" + version : source.file);
  account->load = [this, source, message, version, fingerprint, config_json,
                   trials](bool first) -> Result<std::shared_ptr<ModelVersion>> {
    ConfigMessage own = *message;
    if (first) return LoadVersion(source, version, own, trials);
    // Other files have not been validated.
    if (VersionPrint(source, version, config_json) != fingerprint)
      return Unavailable("its files have changed or are gone since it was read; load the model again");
    auto loaded = LoadVersion(source, version, own, Trials::kWarmUps);
    if (!loaded.ok()) return HidePaths(loaded.TakeStatus(), source);
    return loaded;
  };
  if (!now && !account->pinned) {
    if (auto config = KnownConfig(source, plan, version))
      return budget_->AddEvicted(std::move(*config), account);
  }
  return budget_->AddLoaded(account, UsedWhole);
}

}  // namespace tern::server
