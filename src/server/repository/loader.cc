#include "server/repository/loader.h"

#include "model_config.pb.h"
#include "server/backend/pipeline_engine.h"
#include "server/pipeline/pipeline_model.h"
#include "server/repository/read_config.h"
#include "server/repository/warm_up.h"
#include "server/signatures/load_signatures.h"

namespace tern::server {
namespace {

constexpr std::chrono::seconds kRemoveLimit{5};

Status CheckComplete(const ModelConfig& config) {
  if (config.inputs.empty() && !config.sequence)
    return InvalidArgument(
        "the configuration must list the inputs, because the back end did not report them");
  if (config.outputs.empty())
    return InvalidArgument(
        "the configuration must list the outputs, because the back end did not report them");
  for (const auto* tensors : {&config.inputs, &config.outputs})
    for (const TensorConfig& tensor : *tensors)
      if (tensor.dtype == DType::kInvalid || (tensor.dims.empty() && config.max_batch_size == 0))
        return InvalidArgument("'", tensor.name, "' needs data_type and dims in the configuration");
  return {};
}

}  // namespace

std::vector<std::string> Loader::StepsOf(const ModelSource& source, const std::string& config_json) const {
  ConfigMessage message;
  std::vector<std::string> steps;
  if (!ReadConfig(source, config_json, message).ok()) return steps;
  for (const auto& step : message.ensemble_scheduling().step()) steps.push_back(step.model_name());
  return steps;
}

// Lets the model complete the configuration, then checks all of it: names and sizes of the model may
// contradict the rest.
static Status Complete(BackendModel& model, bool auto_complete, ConfigMessage& message, ModelConfig& config) {
  if (!auto_complete) TERN_TRY(CheckComplete(config));
  TERN_TRY(model.Complete(config));
  TERN_TRY(CheckComplete(config));
  UpdateMessage(config, message);
  return CheckConfig(message, true);
}

// Sets the texts of a configuration, so that it lists the same inputs and outputs as the metadata.
static void DescribePipeline(ConfigMessage message, ModelConfig& client) {
  message.clear_input();
  message.clear_output();
  message.clear_batch_input();
  message.clear_batch_output();
  UpdateMessage(client, message);
}

Result<std::shared_ptr<ModelVersion>> Loader::LoadVersion(const ModelSource& source,
                                                          const std::string& version,
                                                          ConfigMessage& message) const {
  TERN_ASSIGN(ModelConfig config, ConvertConfig(message, source.folder));
  if (!config.ensemble.empty()) {
    TERN_TRY(CheckSteps(config, registry_));
    return scheduler_.AddEnsemble(std::move(config), version, registry_);
  }
  TERN_ASSIGN(const ModelFiles files,
              FindFiles(source, version, message.default_model_filename(), IsBuiltIn(message.backend())));
  std::string pipeline;
  if (IsBuiltIn(message.backend())) {
    TERN_ASSIGN(pipeline, PipelineOf(files, config));
  }
  if (!pipeline.empty()) return LoadPipelined(source, files, pipeline, version, message, std::move(config));
  TERN_ASSIGN(const std::shared_ptr<Backend> backend, backends_.Find(message.backend()));
  TERN_ASSIGN(std::unique_ptr<BackendModel> model, backend->Load(files, config));
  const ModelConfig given = config;
  TERN_TRY(Complete(*model, options_.auto_complete, message, config));
  TERN_ASSIGN(std::shared_ptr<ModelVersion> added,
              AddWarm(source, version, message, std::move(config), std::move(model)));
  return IsBuiltIn(message.backend()) ? AddSignatures(files, given, *backend, scheduler_, std::move(added))
                                      : std::move(added);
}

Result<std::shared_ptr<ModelVersion>> Loader::AddWarm(const ModelSource& source, const std::string& version,
                                                      const ConfigMessage& message, ModelConfig config,
                                                      std::unique_ptr<BackendModel> model) const {
  TERN_ASSIGN(std::shared_ptr<ModelVersion> ready,
              scheduler_.Add(std::move(config), version, std::move(model)));
  const Status warm = WarmUp(*ready, message, source.folder);
  if (warm.ok()) return ready;
  scheduler_.Remove(ready, kRemoveLimit);
  return warm;
}

Result<std::shared_ptr<ModelVersion>> Loader::LoadPipelined(
    const ModelSource& source, const ModelFiles& files, const std::string& pipeline,
    const std::string& version, ConfigMessage& message, ModelConfig config) const {
  TERN_ASSIGN(PipelineLoad loaded, LoadPipeline(files, config, pipeline));
  PipelineParts parts;
  parts.steps = std::move(loaded.steps);
  parts.workers = pipelines_;
  ModelConfig prepared = config;
  ConfigMessage described = message;
  const Status status = Complete(*loaded.tensors, options_.auto_complete, described, config);
  if (status.ok()) {
    prepared = config;
    prepared.inputs.clear();
    prepared.outputs.clear();
    prepared.batch_inputs.clear();
    prepared.batch_outputs.clear();
    TERN_TRY(loaded.prepared->Complete(prepared));
    message = std::move(described);
  } else {
    // Clients cannot send some tensors, such as scalars without a batch dim. The pipeline needs none of them.
    if (!prepared.inputs.empty() || !prepared.outputs.empty()) return status;
    TERN_TRY(Complete(*loaded.prepared, true, message, prepared));
  }
  TERN_ASSIGN(parts.prepared, scheduler_.Add(std::move(prepared), version, std::move(loaded.prepared)));
  if (status.ok()) {
    TERN_ASSIGN(parts.tensors,
                AddWarm(source, version, message, std::move(config), std::move(loaded.tensors)));
  }
  ModelConfig client = ClientConfig(parts);
  DescribePipeline(message, client);
  return std::shared_ptr<ModelVersion>(PipelineModel::Create(std::move(client), version, std::move(parts)));
}

Result<LoadResult> Loader::Load(const ModelSource& source, const std::string& config_json,
                                const LiveVersions& live,
                                const std::function<void(const std::string&)>& started) const {
  ConfigMessage message;
  TERN_TRY(ReadConfig(source, config_json, message));
  LoadResult result;
  for (const auto& step : message.ensemble_scheduling().step()) result.steps.push_back(step.model_name());
  std::vector<std::string> missing;
  const bool ensemble = message.has_ensemble_scheduling();
  const auto versions = SelectVersions(message, ListVersions(source, !ensemble), missing);
  if (versions.empty() && missing.empty())
    return NotFound("the model has no version: no folder with a number as its name");
  for (const std::string& version : missing)
    result.failures[version] = NotFound("version ", version, " does not exist");
  const std::string common = CommonFingerprint(source, config_json);
  for (const std::string& version : versions) {
    const std::string fingerprint = VersionFingerprint(source, common, version);
    const auto known = live.find(version);
    if (known != live.end() && known->second.fingerprint == fingerprint && !ensemble) {
      result.versions[version] = known->second;
      continue;
    }
    started(version);
    ConfigMessage own = message;
    const auto begin = Clock::now();
    auto loaded = Guard([&] { return LoadVersion(source, version, own); });
    const auto unchanged = [&] {
      return VersionFingerprint(source, CommonFingerprint(source, config_json), version) == fingerprint;
    };
    if (loaded.ok()) loaded = WithCache(std::move(*loaded), source, unchanged);
    if (loaded.ok()) (*loaded)->SetLoadTime(Clock::now() - begin);
    if (loaded.ok())
      result.versions[version] = {std::move(*loaded), fingerprint};
    else
      result.failures[version] = HidePaths(loaded.TakeStatus(), source);
  }
  return result;
}

}  // namespace tern::server
