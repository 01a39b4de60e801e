#include "server/main/repository_hints.h"

#include <algorithm>
#include <filesystem>

#include "load/load.h"
#include "server/repository/config.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxNamed = 5;  // files in a warning

std::vector<std::string> FoldersIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const std::string name = it->path().filename().string();
    if (name[0] != '.' && it->is_directory(ignored)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Inside(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / name).string();
}

std::string Named(std::vector<std::string> names) {
  const bool more = names.size() > kMaxNamed;
  if (more) names.resize(kMaxNamed);
  return StrCat(Join(names, ", "), more ? ", …" : "");
}

std::string StrayFiles(const std::string& folder, const std::vector<std::string>& files) {
  const fs::path first = files[0];
  const std::string stem = first.stem().string();
  return StrCat("the model repository '", folder,
                "' has model files outside of folders of models, which are "
                "not served: ",
                Named(files), "; move ", first.string(), " to ", Inside(folder, stem), "/1/model",
                first.extension().string(), ", or serve it with: tern serve --model ", stem, "=",
                Inside(folder, first.string()));
}

std::string OneModel(const std::string& folder, const std::string& version) {
  std::error_code error;
  const fs::path path = fs::absolute(folder, error).lexically_normal();
  const fs::path model = path.has_filename() ? path : path.parent_path();
  return StrCat("the model repository '", folder, "' has the folder ", version,
                ", as the folder of one model has; serve it with: tern serve --model ",
                model.filename().string(), "=", folder, ", or name the folder above it: --repository ",
                model.parent_path().string());
}

// Returns whether a folder of a repository is a version of a model. A model may also have a number as its
// name.
bool IsVersionFolder(const std::string& repository, const std::string& name) {
  const std::vector<std::string> inside = FoldersIn(Inside(repository, name));
  return IsVersion(name) && std::none_of(inside.begin(), inside.end(), IsVersion);
}

std::string HintFor(const std::string& folder, bool only_at_start) {
  const std::vector<std::string> folders = FoldersIn(folder), files = load::ModelFilesIn(folder);
  const auto version = std::find_if(folders.begin(), folders.end(),
                                    [&](const std::string& name) { return IsVersionFolder(folder, name); });
  if (version != folders.end()) return OneModel(folder, *version);
  if (!files.empty()) return StrayFiles(folder, files);
  if (!folders.empty() || !only_at_start) return "";
  return StrCat("the model repository '", folder, "' has no folders of models, such as ",
                Inside(folder, "NAME/1"), " with the file model.onnx");
}

}  // namespace

std::vector<std::string> RepositoryHints(const RepositoryOptions& options) {
  std::vector<std::string> hints;
  for (const std::string& folder : options.folders) {
    if (folder.find("://") != std::string::npos) continue;
    const std::string hint = HintFor(folder, options.control == ControlMode::kNone);
    if (!hint.empty()) hints.push_back(hint);
  }
  return hints;
}

}  // namespace tern::server
