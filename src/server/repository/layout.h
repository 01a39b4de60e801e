// Finds the files of models. A model file is <repository>/<model>/<version>/<model file>, and its
// configuration is <repository>/<model>/config.pbtxt. A flat model (--model NAME=PATH) is a single file, or a
// folder without a repository.
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
  // The canonical path of the model's folder. For a flat model that is a file, this is the file's folder.
  std::string folder;
  std::string file;  // only for a flat model that is a single file; else empty
  bool flat = false;
};

// Returns the sources of all models by name. A name with several sources is ambiguous. Fails with kIo if a
// folder cannot be read, and with kNotFound if the path of a flat model does not exist. Skips names that are
// not valid model names.
Result<std::map<std::string, std::vector<ModelSource>>> ListModels(const RepositoryOptions& options);

// The text of config.pbtxt, config.yaml or config.yml. If there is no such file, the format is kNone.
struct ConfigFile {
  enum class Format { kNone, kText, kYaml } format = Format::kNone;
  std::string text;
};
Result<ConfigFile> FindConfig(const ModelSource& source);

// Returns the versions that exist, in ascending order. A version is a folder whose name is a number. A flat
// model without such folders has only the version "1". So has a model that needs no files and has no such
// folders.
std::vector<std::string> ListVersions(const ModelSource& source, bool needs_files);
// Returns the versions that the configuration's version policy selects, in ascending order. If the policy
// names versions that do not exist, adds them to `missing`.
std::vector<std::string> SelectVersions(const ConfigMessage& message,
                                        const std::vector<std::string>& versions,
                                        std::vector<std::string>& missing);

// Finds the files of one version. default_file is the configuration's default_model_filename. If it is set,
// that file is used, and it must exist if needs_file is true. If it is empty, the model file is model.onnx,
// model.tern, model.savedmodel, model.graphdef, model.<any format>, the folder itself, or the only file of a
// format that Tern reads. If needs_file is false and there is no file, the result has no file.
Result<ModelFiles> FindFiles(const ModelSource& source, const std::string& version,
                             const std::string& default_file, bool needs_file);

// Returns a text that changes when a file below the path is added or removed, or when its time or size
// changes. If skip_versions is true, folders whose names are numbers are ignored.
std::string Fingerprint(const std::string& path, bool skip_versions = false);

// Removes the folders of repositories from the message, because clients must not see them.
Status HidePaths(Status status, const ModelSource& source);

}  // namespace tern::server
