// Converts a configuration to a TernModelInfo, and merges what the engine's describe reports into the
// configuration.
#pragma once
#include "server/backend/host.h"

namespace tern::server {

// Owns the arrays that a TernModelInfo points to. `files` and `config` must outlive it.
class ModelInfo {
 public:
  ModelInfo(const ModelFiles& files, const ModelConfig& config);
  ModelInfo(const ModelInfo&) = delete;
  ModelInfo& operator=(const ModelInfo&) = delete;
  const TernModelInfo* get() const { return &info_; }

 private:
  std::vector<TernTensorInfo> inputs_, outputs_;
  std::vector<TernText> parameters_;
  TernModelInfo info_{};
};

// Adds to the configuration what it leaves open. Fails if the configuration contradicts the description.
Status MergeDescription(const TernDescription& description, ModelConfig& config);

}  // namespace tern::server
