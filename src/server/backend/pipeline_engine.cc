#include "server/backend/pipeline_engine.h"

#include "generate/generate.h"
#include "server/backend/adapter.h"
#include "server/backend/engine.h"
#include "server/backend/engine_model.h"
#include "server/backend/model_info.h"
#include "server/backend/snapshot.h"

namespace tern::server {

Result<std::string> PipelineOf(const ModelFiles& files, const ModelConfig& config) {
  const auto found = config.parameters.find("tern_pipeline");
  if (found != config.parameters.end() && found->second == "off") return std::string();
  if (found != config.parameters.end())
    return InvalidArgument("parameter tern_pipeline is '", found->second, "'; its only value is 'off'");
  return files.file.empty() ? std::string() : pipeline::FindPipeline(files.file);
}

Result<PipelineLoad> LoadPipeline(const ModelFiles& files, const ModelConfig& config,
                                  const std::string& pipeline) {
  if (config.sequence || config.decoupled)
    return InvalidArgument("a model with a pipeline can be neither a sequence model nor decoupled");
  InitGenerate();
  TERN_ASSIGN(const pipeline::Spec spec, pipeline::ReadSpec(pipeline));
  TERN_ASSIGN(load::Loaded loaded, LoadSnapshot(files.file));
  for (const std::string& warning : loaded.warnings)
    Host().log(1, StrCat("model '", config.name, "': ", warning).c_str());
  TERN_ASSIGN(std::shared_ptr<LoadedBackend> engine, LoadedBackend::Initialise(EngineBackend()));
  const ModelInfo info(files, config);
  std::unique_ptr<Graph> graph = loaded.graph->Clone();  // shares the weights
  PipelineLoad out;
  TERN_ASSIGN(out.steps, pipeline::Steps::Create(spec, *graph));
  TERN_ASSIGN(auto tensors, EngineModel::Create(*info.get(), std::move(loaded.graph)));
  TERN_ASSIGN(auto prepared, EngineModel::Create(*info.get(), std::move(graph)));
  out.tensors = AdaptModel(engine, tensors.release(), files);
  out.prepared = AdaptModel(engine, prepared.release(), files);
  return out;
}

}  // namespace tern::server
