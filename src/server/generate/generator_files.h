// The files beside a model that generates text: tokenizer.json, tokenizer_config.json, generation_config.json
// and config.json.
#pragma once
#include "server/core/backend.h"
#include "server/generate/generator_model.h"

namespace tern::server {

// Returns the folder with tokenizer.json: the version's folder or `root`, the model's folder. Returns an
// empty text if neither has the file.
std::string TokenizerFolder(const ModelFiles& files, const std::string& root);

// Makes a version that generates text. `folder` is that of tokenizer.json. Fails with kUnsupported if the
// model cannot generate text. Such a model can still be served with its tensors.
Result<std::shared_ptr<ModelVersion>> LoadGenerator(const ModelFiles& files, const std::string& folder,
                                                    ModelConfig config, const std::string& version,
                                                    std::shared_ptr<Executor> executor);

}  // namespace tern::server
