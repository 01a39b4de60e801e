// Loads a model that has a pipeline.yaml for the built-in engine.
#pragma once
#include "pipeline/work.h"
#include "server/core/backend.h"

namespace tern::server {

// The model twice, with shared weights.
struct PipelineLoad {
  std::unique_ptr<BackendModel> tensors;   // the model as it is
  std::unique_ptr<BackendModel> prepared;  // the model with the pipeline's ops
  std::shared_ptr<const pipeline::Steps> steps;
};

// Returns the path of the pipeline of a model file, or "" if there is none or if the configuration's
// parameter tern_pipeline is "off". Fails if the parameter has another value.
Result<std::string> PipelineOf(const ModelFiles& files, const ModelConfig& config);
Result<PipelineLoad> LoadPipeline(const ModelFiles& files, const ModelConfig& config,
                                  const std::string& pipeline);

}  // namespace tern::server
