// Where models lie: <repository>/<model>/[config.pbtxt]/<version>/<model file>, or a single model mounted
// flat.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "server/core/backend.h"
#include "server/repository/config.h"
#include "server/repository/repository.h"

namespace tern::server {

struct ModelSource {
  std::string name;
  std::string folder;  // the model's: canonical. Of a flat model that is a file: the file's folder
  std::string file;    // of a flat model that is a single file, else empty
  bool flat = false;
};

// All models by name. A name with several sources is ambiguous. Folders that cannot be read give kIo, names
// that no model can have are skipped.
Result<std::map<std::string, std::vector<ModelSource>>> ListModels(const RepositoryOptions& options);

// The text of config.pbtxt, config.yaml or config.yml; nothing if there is none of them.
struct ConfigFile {
  enum class Format { kNone, kText, kYaml } format = Format::kNone;
  std::string text;
};
Result<ConfigFile> FindConfig(const ModelSource& source);

// Versions of a model that exist, in ascending order: folders with numbers as names; "1" for a flat model
// without such folders and for models without files.
std::vector<std::string> ListVersions(const ModelSource& source, bool needs_files);
// Those that the policy selects, in ascending order. Versions that it names and that do not exist are in
// `missing`.
std::vector<std::string> SelectVersions(const ConfigMessage& message,
                                        const std::vector<std::string>& versions,
                                        std::vector<std::string>& missing);

// The files of one version. default_file: the configuration's default_model_filename, which must exist if it
// is set and the engine needs a file. Else model.onnx, model.tern, model.<any format>, or the only file of a
// format that Tern reads. An engine that needs no file gets none if there is none.
Result<ModelFiles> FindFiles(const ModelSource& source, const std::string& version,
                             const std::string& default_file, bool needs_file);

// Changes when a file below the path is added, removed or changed (time or size). `skip_versions`: without
// folders whose names are numbers.
std::string Fingerprint(const std::string& path, bool skip_versions = false);

// The message without the folders of repositories: clients must not see them.
Status HidePaths(Status status, const ModelSource& source);

}  // namespace tern::server
