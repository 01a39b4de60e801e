#include "tools/serve_paths.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "load/load.h"

namespace fs = std::filesystem;

namespace tern::tools {
namespace {

constexpr size_t kMaxNamed = 8;  // paths in a message

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string Inside(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / name).string();
}

// Returns the sorted names of the subfolders that are not hidden.
std::vector<std::string> FoldersIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const std::string name = it->path().filename().string();
        name[0] != '.' && IsFolder(it->path().string()))
      names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

bool IsVersion(const std::string& name) {
  return name[0] != '0' && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns whether a folder is a model in Triton's layout: it has a configuration or folders of versions.
bool HasLayout(const std::string& folder) {
  for (const char* name : {"config.pbtxt", "config.yaml", "config.yml"})
    if (Exists(Inside(folder, name))) return true;
  const std::vector<std::string> names = FoldersIn(folder);
  return std::any_of(names.begin(), names.end(), IsVersion);
}

// Returns whether a format is a folder of this kind, such as a SavedModel.
bool HasFormat(const std::string& folder) {
  const load::Format* format = load::Formats().Find({folder, {}, true});
  return format && format->readable();
}

// Returns the file name without its extension. For ".", returns the name of the current folder.
std::string NameOf(const std::string& model) {
  std::error_code error;
  const auto path = fs::absolute(model, error).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).stem().string();
}

// Returns the arguments of a command that serves these files or subfolders of a folder.
std::string Listed(const std::string& folder, const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMaxNamed); ++i) text += " " + Inside(folder, names[i]);
  return names.size() > kMaxNamed ? text + " …" : text;
}

Status SeveralModels(const std::string& folder, const std::vector<std::string>& names) {
  const std::string stem = fs::path(names[0]).stem().string();
  return InvalidArgument("the folder '", folder,
                         "' contains several models; serve each under its own name: "
                         "tern serve",
                         Listed(folder, names), ", or move each to a folder of its own, such as ",
                         Inside(folder, stem), "/1/model", fs::path(names[0]).extension().string());
}

// Returns whether a folder is a repository. Fails if the folder contains several models in another layout.
Result<bool> IsRepository(const std::string& folder) {
  if (HasLayout(folder) || HasFormat(folder)) return false;
  const std::vector<std::string> files = load::ModelFilesIn(folder);
  const bool named = std::any_of(files.begin(), files.end(), [](const std::string& file) {
    return fs::path(file).stem() == "model";  // the server prefers this file to others
  });
  if (files.size() > 1 && !named) return SeveralModels(folder, files);
  if (!files.empty()) return false;
  std::vector<std::string> loose;  // models without folders of versions
  for (const std::string& name : FoldersIn(folder)) {
    const std::string inside = Inside(folder, name);
    if (HasLayout(inside)) return true;
    if (HasFormat(inside) || !load::ModelFilesIn(inside).empty()) loose.push_back(name);
  }
  if (loose.empty()) return false;
  return InvalidArgument(
      "the folder '", folder, "' contains folders of models, but these have no versions, such as ",
      Inside(folder, loose[0]), "/1; serve them without versions: tern serve", Listed(folder, loose));
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> SettingsOfPaths(
    const std::vector<std::string>& paths) {
  std::vector<std::pair<std::string, std::string>> settings;
  std::map<std::string, std::string> by_name;
  for (const std::string& path : paths) {
    if (path.empty()) return InvalidArgument("the path of a model is empty");
    bool repository = path.find("://") != std::string::npos;
    if (!repository && IsFolder(path)) {
      TERN_ASSIGN(repository, IsRepository(path));
    }
    if (repository) {
      settings.emplace_back("repository", path);
      continue;
    }
    const std::string name = NameOf(path);
    if (name.find('=') != std::string::npos)
      return InvalidArgument("the name '", name,
                             "' of the model contains '='; choose another with --model NAME=PATH");
    if (const auto [it, fresh] = by_name.emplace(name, path); !fresh)
      return InvalidArgument("'", it->second, "' and '", path, "' would both be served as '", name,
                             "'; choose other names with --model NAME=PATH");
    settings.emplace_back("model", StrCat(name, "=", path));
  }
  return settings;
}

}  // namespace tern::tools
