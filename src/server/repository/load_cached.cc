// Prepares loaded versions for the response cache.
#include <filesystem>

#include "server/cache/cached_model.h"
#include "server/cache/version_identity.h"
#include "server/core/log.h"
#include "server/repository/loader.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kRemoveUncached{5};

// Returns the files that determine what a version computes.
std::vector<std::string> FilesOf(const ModelSource& source, const ModelVersion& version,
                                 const std::string& plug_in) {
  std::vector<std::string> paths;
  if (!plug_in.empty()) paths.push_back(plug_in);
  if (!version.config().ensemble.empty()) return paths;
  if (!source.file.empty()) {
    paths.push_back(source.file);
    return paths;
  }
  std::error_code error;
  const std::string folder = source.folder + "/" + version.version();
  if (!fs::is_directory(folder, error)) {
    paths.push_back(source.folder);
    return paths;
  }
  paths.push_back(folder);
  for (fs::directory_iterator it(source.folder, error), end; !error && it != end; it.increment(error))
    if (it->is_regular_file(error)) paths.push_back(it->path());
  std::sort(paths.begin() + static_cast<std::ptrdiff_t>(plug_in.empty() ? 0 : 1), paths.end());
  return paths;
}

}  // namespace

Result<std::shared_ptr<ModelVersion>> Loader::WithCache(std::shared_ptr<ModelVersion> loaded,
                                                        const ModelSource& source,
                                                        const std::function<bool()>& unchanged) const {
  const ModelConfig& config = loaded->config();
  if (!options_.cache) {
    if (config.response_cache)
      Log(LogLevel::kWarning,
          StrCat("model '", config.name, "' has a response_cache, but the server has none: see --cache"));
    return loaded;
  }
  std::string identity = UniqueIdentity();
  if (options_.cache->shared()) {
    const std::string plug_in =
        IsBuiltIn(config.backend) ? "" : PlugInFile(options_.backend_folder, config.backend);
    // A flat file may refer to other files of its folder.
    const std::string notes = source.file.empty() ? "" : Fingerprint(source.folder);
    auto content = Guard([&] { return ContentIdentity(config, FilesOf(source, *loaded, plug_in), notes); });
    // The loaded files may not be those that were hashed.
    if (content.ok() && !unchanged()) content = IoError("its files changed while it was loaded");
    if (content.ok())
      identity = std::move(*content);
    else
      Log(LogLevel::kWarning,
          StrCat("model '", config.name,
                 "': other servers do not use its cached responses: ", content.status().message()));
  }
  loaded->SetIdentity(std::move(identity));
  if (!config.response_cache) return loaded;
  auto cached = CachedModel::Create(loaded, options_.cache, registry_);
  if (cached.ok()) return std::shared_ptr<ModelVersion>(std::move(*cached));
  scheduler_.Remove(loaded, kRemoveUncached);
  return cached.TakeStatus();
}

}  // namespace tern::server
