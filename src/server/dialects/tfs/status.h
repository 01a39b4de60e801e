// The states of a model's versions, as TensorFlow Serving reports them.
#pragma once
#include <string>
#include <vector>

#include "server/core/control.h"
#include "server/dialects/tfs/model_spec.h"

namespace tern::server::tfs {

// tensorflow.serving.ModelVersionStatus.
struct VersionStatus {
  enum State { kUnknown = 0, kStart = 10, kLoading = 20, kAvailable = 30, kUnloading = 40, kEnd = 50 };
  std::string version;
  State state = kUnknown;
  std::string error;  // empty: none
};
const char* StateText(VersionStatus::State state);

// Returns the versions that `spec` names, the latest first. Fails with kNotFound if there are none. Lists the
// repository, which may wait for the file system.
Result<std::vector<VersionStatus>> ListStatus(ServerContext& context, const ModelSpec& spec);

}  // namespace tern::server::tfs
