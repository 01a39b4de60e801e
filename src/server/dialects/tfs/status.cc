#include "server/dialects/tfs/status.h"

#include <algorithm>

namespace tern::server::tfs {
namespace {

VersionStatus::State StateOf(ModelState state) {
  switch (state) {
    case ModelState::kReady:
      return VersionStatus::kAvailable;
    case ModelState::kLoading:
      return VersionStatus::kLoading;
    case ModelState::kUnloading:
      return VersionStatus::kUnloading;
    case ModelState::kUnavailable:
      return VersionStatus::kEnd;
    case ModelState::kUnknown:
      break;
  }
  return VersionStatus::kStart;
}

// The registry knows what answers now. The repository also knows what is loaded, or failed to load.
std::vector<VersionStatus> AllVersions(ServerContext& context, const std::string& model) {
  std::vector<VersionStatus> all;
  for (const auto& version : context.models->Versions(model))
    all.push_back({version->version(), VersionStatus::kAvailable, ""});
  if (!context.repository) return all;
  for (const IndexEntry& entry : context.repository->Index(false)) {
    if (entry.name != model || entry.version.empty()) continue;
    const auto same = [&](const VersionStatus& other) { return other.version == entry.version; };
    if (std::any_of(all.begin(), all.end(), same)) continue;
    const VersionStatus::State state = StateOf(entry.state);
    all.push_back({entry.version, state,
                   state == VersionStatus::kEnd && entry.reason != "unloaded" ? entry.reason : ""});
  }
  std::sort(all.begin(), all.end(),
            [](const VersionStatus& a, const VersionStatus& b) { return VersionLess(b.version, a.version); });
  return all;
}

}  // namespace

const char* StateText(VersionStatus::State state) {
  switch (state) {
    case VersionStatus::kStart:
      return "START";
    case VersionStatus::kLoading:
      return "LOADING";
    case VersionStatus::kAvailable:
      return "AVAILABLE";
    case VersionStatus::kUnloading:
      return "UNLOADING";
    case VersionStatus::kEnd:
      return "END";
    case VersionStatus::kUnknown:
      break;
  }
  return "UNKNOWN";
}

Result<std::vector<VersionStatus>> ListStatus(ServerContext& context, const ModelSpec& spec) {
  if (spec.model.empty()) return InvalidArgument("Missing model name in request.");
  std::string version = spec.version;
  if (!spec.label.empty()) {
    TERN_ASSIGN(const auto labelled, FindVersion(*context.models, spec));
    version = labelled->version();
  }
  std::vector<VersionStatus> all = AllVersions(context, spec.model);
  if (!version.empty())
    std::erase_if(all, [&](const VersionStatus& status) { return status.version != version; });
  if (!all.empty()) return all;
  if (version.empty()) return NotFound("Could not find any versions of model ", spec.model);
  return NotFound("Could not find version ", version, " of model ", spec.model);
}

}  // namespace tern::server::tfs
