#include "server/repository/loader.h"

#include <algorithm>
#include <filesystem>

#include "model_config.pb.h"
#include "server/backend/pipeline_engine.h"
#include "server/core/log.h"
#include "server/generate/generator_files.h"
#include "server/isolation/isolated_model.h"
#include "server/pipeline/pipeline_model.h"
#include "server/repository/read_config.h"
#include "server/rollout/policy.h"
#include "server/signatures/load_signatures.h"
#include "server/store/remote.h"

namespace tern::server {

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

std::vector<std::string> Loader::StepsOf(const ModelSource& source, const std::string& config_json) const {
  ConfigMessage message;
  std::vector<std::string> steps;
  if (!ReadConfig(source, config_json, message).ok()) return steps;
  for (const auto& step : message.ensemble_scheduling().step()) steps.push_back(step.model_name());
  return steps;
}

// Lets the model complete the configuration. Then checks all of it, because names and sizes of the model may
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

// Warns of a pipeline.yaml that is not used, although its author probably intended that.
static void WarnOfPipeline(const ModelSource& source, const ModelFiles& files, const ModelConfig& config) {
  if (config.parameters.contains("tern_pipeline") || files.file.empty()) return;
  const auto warn = [&](const std::string& text) {
    Log(LogLevel::kWarning, StrCat("model '", source.name, "' has no pipeline: ", text));
  };
  const std::filesystem::path folder = std::filesystem::path(files.file).parent_path();
  std::error_code error;
  if (std::filesystem::exists(folder / "pipeline.yaml", error)) {
    if (const auto found = pipeline::LookForPipeline(files.file); found.ok()) warn(found->reason);
  } else if (!source.flat && std::filesystem::exists(source.folder + "/pipeline.yaml", error)) {
    warn(StrCat("'", source.folder,
                "/pipeline.yaml' belongs into the folder of the version, beside the model's file"));
  }
}

// Fails for an isolated model with a pipeline or with text generation, because these run in the server's
// process.
static Status CheckIsolation(const ModelConfig& config, bool pipeline) {
  if (pipeline)
    return Unsupported("a model with a pipeline cannot run in a process of its own; set the parameter ",
                       "isolation to none, or tern_pipeline to off");
  const auto generator = config.parameters.find("tern_generator");
  if (generator == config.parameters.end() || generator->second == "off") return {};
  return Unsupported("a model that generates text cannot run in a process of its own; set the parameter ",
                     "isolation to none, or tern_generator to off");
}

Result<Candidate> Loader::Read(const ModelSource& source, const std::string& version,
                               ConfigMessage& message) const {
  TERN_ASSIGN(ModelConfig config, ConvertConfig(message, source.folder));
  Candidate out;
  if (!config.ensemble.empty()) {
    TERN_TRY(CheckSteps(config, registry_));
    TERN_ASSIGN(out.version, scheduler_.AddEnsemble(std::move(config), version, registry_));
    out.runners = {out.version};
    return out;
  }
  TERN_ASSIGN(const ModelFiles files,
              FindFiles(source, version, message.default_model_filename(), IsBuiltIn(message.backend())));
  std::string pipeline;
  if (IsBuiltIn(message.backend())) {
    TERN_ASSIGN(pipeline, PipelineOf(files, config));
    if (pipeline.empty()) WarnOfPipeline(source, files, config);
  }
  TERN_ASSIGN(const Isolation isolation, IsolationOf(config, options_.isolation));
  if (isolation.process) TERN_TRY(CheckIsolation(config, !pipeline.empty()));
  if (!pipeline.empty()) return ReadPipelined(files, pipeline, version, message, std::move(config));
  if (IsBuiltIn(message.backend()) && !isolation.process) {
    TERN_ASSIGN(out.version, FindGenerator(source, files, version, message, config));
    out.runners = {out.version};
    if (message.model_warmup_size() > 0) out.tensors = out.version;
    if (out.version) return out;
    out = Candidate();
  }
  TERN_ASSIGN(const std::shared_ptr<Backend> backend,
              BackendOf(backends_, options_.backend_folder, config, options_.isolation,
                        [](const ModelFiles& f) { return Fingerprint(f.file.empty() ? f.folder : f.file); }));
  TERN_ASSIGN(std::unique_ptr<BackendModel> model, backend->Load(files, config));
  const ModelConfig given = config;
  TERN_TRY(Complete(*model, options_.auto_complete, message, config));
  TERN_ASSIGN(out.tensors, scheduler_.Add(std::move(config), version, std::move(model)));
  out.version = out.tensors;
  out.runners = {out.tensors};
  if (IsBuiltIn(message.backend())) {
    TERN_ASSIGN(out.version, AddSignatures(files, given, *backend, scheduler_, out.tensors));
  }
  return out;
}

Result<std::shared_ptr<ModelVersion>> Loader::FindGenerator(const ModelSource& source,
                                                            const ModelFiles& files,
                                                            const std::string& version,
                                                            ConfigMessage& message,
                                                            ModelConfig config) const {
  const auto wanted = config.parameters.find("tern_generator");
  const std::string choice = wanted == config.parameters.end() ? "" : wanted->second;
  if (!choice.empty() && choice != "on" && choice != "off")
    return InvalidArgument("parameter tern_generator is '", choice, "'; it must be 'on' or 'off'");
  const std::string folder = TokenizerFolder(files, source.folder);
  const bool tensors =
      !config.inputs.empty() || !config.outputs.empty() || config.sequence || config.decoupled;
  if (choice == "off" || (choice.empty() && (folder.empty() || tensors)))
    return std::shared_ptr<ModelVersion>();
  if (folder.empty()) return NotFound("a model with tern_generator needs a file tokenizer.json beside it");
  DescribeGenerator(config);
  ConfigMessage described = message;
  UpdateMessage(config, described);
  auto made = LoadGenerator(files, folder, std::move(config), version, scheduler_.executor());
  if (!made.ok() && made.status().code() == Code::kUnsupported && choice != "on") {
    Log(LogLevel::kInfo, StrCat("model '", source.name,
                                "' has a tokenizer but does not generate text: ", made.status().message()));
    return std::shared_ptr<ModelVersion>();
  }
  if (!made.ok()) return made;
  message = std::move(described);
  return made;
}

Result<std::shared_ptr<ModelVersion>> Loader::LoadVersion(const ModelSource& source,
                                                          const std::string& version, ConfigMessage& message,
                                                          Trials trials) const {
  TERN_ASSIGN(const LifeCycle life_cycle, LifeCycleOf(message, options_));
  TERN_ASSIGN(const Candidate candidate, Read(source, version, message));
  const std::string folder = source.file.empty() ? source.folder : "";
  TERN_TRY(Prepare(candidate, scheduler_, message, life_cycle, folder, trials));
  return candidate.version;
}

Result<Candidate> Loader::ReadPipelined(const ModelFiles& files, const std::string& pipeline,
                                        const std::string& version, ConfigMessage& message,
                                        ModelConfig config) const {
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
    TERN_ASSIGN(parts.tensors, scheduler_.Add(std::move(config), version, std::move(loaded.tensors)));
  }
  Candidate out{nullptr, parts.tensors, {parts.prepared}};
  if (parts.tensors) out.runners.push_back(parts.tensors);
  ModelConfig client = ClientConfig(parts);
  DescribePipeline(message, client);
  out.version = PipelineModel::Create(std::move(client), version, std::move(parts));
  return out;
}

std::string VersionPrint(const ModelSource& source, const std::string& version,
                         const std::string& config_json) {
  if (!source.file.empty())
    return StrCat(config_json, Fingerprint(source.file), Fingerprint(source.folder + "/pipeline.yaml"));
  return StrCat(config_json, Fingerprint(source.folder, true), Fingerprint(source.folder + "/" + version));
}

bool LoadPlan::Keeps(const std::string& version, const LiveVersions& live) const {
  const auto known = live.find(version);
  if (ensemble || known == live.end()) return false;
  return std::any_of(versions.begin(), versions.end(), [&](const auto& planned) {
    return planned.first == version && planned.second == known->second.fingerprint;
  });
}

Result<LoadPlan> Loader::Plan(const ModelSource& source, const std::string& config_json) const {
  ConfigMessage message;
  TERN_TRY(ReadConfig(source, config_json, message));
  LoadPlan plan;
  TERN_ASSIGN(plan.life_cycle, LifeCycleOf(message, options_));
  for (const auto& step : message.ensemble_scheduling().step()) plan.steps.push_back(step.model_name());
  plan.ensemble = message.has_ensemble_scheduling();
  const auto existing = ListVersions(source, !plan.ensemble);
  auto versions = SelectVersions(message, existing, plan.missing);
  if (options_.selector)
    options_.selector->Select(
        source.name,
        {existing, message.parameters().contains(kRolloutParameter), message.version_policy().has_specific()},
        versions);
  for (const std::string& version : versions)
    plan.versions.emplace_back(version, VersionPrint(source, version, config_json));
  if (plan.versions.empty() && plan.missing.empty())
    return NotFound("the model has no version: no folder with a number as its name, such as ", source.name,
                    "/1, with the model file in it");
  plan.message = std::make_shared<ConfigMessage>(std::move(message));
  return plan;
}

Status Loader::CheckFiles(const ModelSource& source, const LoadPlan& plan) const {
  const ConfigMessage& message = *plan.message;
  for (const auto& [version, fingerprint] : plan.versions)
    TERN_TRY(FindFiles(source, version, message.default_model_filename(), IsBuiltIn(message.backend()))
                 .TakeStatus());
  return {};
}

Result<LoadResult> Loader::Load(const ModelSource& source, const std::string& config_json,
                                const LiveVersions& live,
                                const std::function<void(const std::string&)>& started) const {
  TERN_ASSIGN(const LoadPlan plan, Plan(source, config_json));
  LoadResult result;
  result.steps = plan.steps;
  for (const std::string& version : plan.missing)
    result.failures[version] = NotFound("version ", version, " does not exist");
  for (const auto& [version, fingerprint] : plan.versions) {
    if (plan.Keeps(version, live)) {
      result.versions[version] = live.at(version);
      continue;
    }
    started(version);
    // The old version may be removed only after the new version has run.
    const bool now = !live.empty();
    Status status = LoadOne(source, plan, version, fingerprint, config_json, now, result);
    if (!status.ok()) result.failures[version] = HidePaths(std::move(status), source);
  }
  return result;
}

Status Loader::LoadOne(const ModelSource& source, const LoadPlan& plan, const std::string& version,
                       const std::string& fingerprint, const std::string& config_json, bool now,
                       LoadResult& result) const {
  const auto begin = Clock::now();
  Origin origin{source, remote_ ? remote_->Keep(source.folder, version) : nullptr};
  TERN_ASSIGN(std::shared_ptr<ModelVersion> loaded, Guard([&] {
                return LoadUnderBudget(source, plan, version, fingerprint, config_json, Trials::kAll, now);
              }));
  // The files may have been incomplete, because another program was still writing them.
  if (VersionPrint(source, version, config_json) != fingerprint) {
    scheduler_.Remove(loaded, std::chrono::milliseconds(0));
    return Unavailable("its files changed while they were read; load the model again when they are complete");
  }
  TERN_ASSIGN(loaded, WithCache(std::move(loaded), source,
                                [&] { return VersionPrint(source, version, config_json) == fingerprint; }));
  loaded->SetLoadTime(Clock::now() - begin);
  result.versions[version] = {std::move(loaded), fingerprint, std::move(origin)};
  return {};
}

LoadResult Loader::Restore(const std::map<std::string, Origin>& versions,
                           const std::string& config_json) const {
  LoadResult result;
  for (const auto& [version, origin] : versions) {
    auto loaded = Guard([&] { return RestoreOne(origin, version, config_json); });
    if (loaded.ok())
      result.versions[version] = std::move(*loaded);
    else
      result.failures[version] = HidePaths(loaded.TakeStatus(), origin.source);
  }
  return result;
}

Result<LiveVersion> Loader::RestoreOne(const Origin& origin, const std::string& version,
                                       const std::string& config_json) const {
  const ModelSource& source = origin.source;
  ConfigMessage message;
  TERN_TRY(ReadConfig(source, config_json, message));
  LoadPlan plan;
  TERN_ASSIGN(plan.life_cycle, LifeCycleOf(message, options_));
  plan.message = std::make_shared<ConfigMessage>(std::move(message));
  const std::string fingerprint = VersionPrint(source, version, config_json);
  const auto begin = Clock::now();
  TERN_ASSIGN(std::shared_ptr<ModelVersion> loaded,
              LoadUnderBudget(source, plan, version, fingerprint, config_json, Trials::kWarmUps, true));
  const auto unchanged = [&] { return VersionPrint(source, version, config_json) == fingerprint; };
  TERN_ASSIGN(loaded, WithCache(std::move(loaded), source, unchanged));
  loaded->SetLoadTime(Clock::now() - begin);
  return LiveVersion{std::move(loaded), fingerprint, origin};
}

}  // namespace tern::server
