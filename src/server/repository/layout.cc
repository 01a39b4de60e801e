#include "server/repository/layout.h"

#include <algorithm>
#include <filesystem>

#include "data/file.h"
#include "load/load.h"
#include "model_config.pb.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string Canonical(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? std::string() : real.string();
}

// Returns the sorted names in a folder, without hidden files.
std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const std::string name = it->path().filename(); name[0] != '.') names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

Status ListFolder(const std::string& folder, std::map<std::string, std::vector<ModelSource>>& out) {
  const std::string root = Canonical(folder);
  std::error_code error;
  if (root.empty() || !fs::is_directory(root, error))
    return IoError("the model repository '", folder, "' is not a folder that can be read");
  for (const std::string& name : NamesIn(root)) {
    const std::string path = root + "/" + name;
    if (!CheckModelName(name).ok() || !fs::is_directory(path, error)) continue;
    if (const std::string real = Canonical(path); !real.empty()) out[name].push_back({name, real, "", false});
  }
  return {};
}

Status AddFlat(const FlatModel& model, std::map<std::string, std::vector<ModelSource>>& out) {
  TERN_TRY(CheckModelName(model.name));
  const std::string real = Canonical(model.path);
  if (real.empty()) return NotFound("model '", model.name, "': '", model.path, "' does not exist");
  std::error_code error;
  if (fs::is_directory(real, error))
    out[model.name].push_back({model.name, real, "", true});
  else
    out[model.name].push_back({model.name, fs::path(real).parent_path(), real, true});
  return {};
}

bool ReadableFile(const std::string& path) {
  std::error_code error;
  for (const load::Format& format : load::Formats().rows()) {
    if (!format.readable()) continue;
    if (!format.folder_file.empty() && Exists(path + "/" + format.folder_file)) return true;
    if (fs::is_regular_file(path, error) && format.MatchesExtension(path)) return true;
  }
  return false;
}

// Returns the usual names of model files in order of preference.
std::vector<std::string> UsualNames() {
  std::vector<std::string> names{"model.onnx", "model.tern", "model.savedmodel", "model.graphdef"};
  for (const load::Format& format : load::Formats().rows())
    if (format.readable())
      for (const std::string& extension : format.extensions) names.push_back("model" + extension);
  return names;
}

Result<std::string> GuessFile(const std::string& folder) {
  for (const std::string& name : UsualNames())
    if (Exists(folder + "/" + name)) return name;
  if (ReadableFile(folder)) return std::string(".");  // the folder itself is a model
  std::vector<std::string> found;
  for (const std::string& name : NamesIn(folder))
    if (const std::string path = folder + "/" + name; ReadableFile(path) && !load::BelongsToModel(path))
      found.push_back(name);
  if (found.size() == 1) return found[0];
  if (found.empty()) return NotFound("no model file is there; Tern reads ", load::Formats().Readable());
  return InvalidArgument("several model files are there: ", Join(found, ", "),
                         "; default_model_filename in the configuration chooses one");
}

void AddToFingerprint(const fs::directory_entry& entry, const fs::path& root, std::vector<std::string>& out) {
  std::error_code error;
  const auto time = entry.last_write_time(error).time_since_epoch().count();
  const bool file = entry.is_regular_file(error);
  const auto size = file ? entry.file_size(error) : 0;
  out.push_back(StrCat(entry.path().lexically_relative(root).string(), "|",
                       file ? static_cast<int64_t>(time) : 0, "|", size));
}

}  // namespace

Result<std::map<std::string, std::vector<ModelSource>>> ListModels(const RepositoryOptions& options) {
  return Guard([&]() -> Result<std::map<std::string, std::vector<ModelSource>>> {
    std::map<std::string, std::vector<ModelSource>> out;
    for (const std::string& folder : options.folders) TERN_TRY(ListFolder(folder, out));
    for (const FlatModel& model : options.models) TERN_TRY(AddFlat(model, out));
    return out;
  });
}

Result<ConfigFile> FindConfig(const ModelSource& source) {
  if (!source.file.empty()) return ConfigFile{};
  using Format = ConfigFile::Format;
  for (const auto& [name, format] : {std::pair("config.pbtxt", Format::kText),
                                     {"config.yaml", Format::kYaml},
                                     {"config.yml", Format::kYaml}}) {
    if (!Exists(source.folder + "/" + name)) continue;
    TERN_ASSIGN(const std::string path, FileInside(source.folder, name));
    auto text = data::ReadFile(path);
    if (!text.ok()) return IoError(name, " cannot be read");
    return ConfigFile{format, std::move(*text)};
  }
  return ConfigFile{};
}

std::vector<std::string> ListVersions(const ModelSource& source, bool needs_files) {
  std::vector<std::string> versions;
  std::error_code error;
  if (source.file.empty())
    for (const std::string& name : NamesIn(source.folder))
      if (IsVersion(name) && fs::is_directory(source.folder + "/" + name, error)) versions.push_back(name);
  std::sort(versions.begin(), versions.end(), VersionLess);
  if (versions.empty() && (source.flat || !needs_files)) versions.push_back("1");
  return versions;
}

std::vector<std::string> SelectVersions(const ConfigMessage& message,
                                        const std::vector<std::string>& versions,
                                        std::vector<std::string>& missing) {
  const auto& policy = message.version_policy();
  if (policy.has_all()) return versions;
  if (!policy.has_specific()) {
    const size_t wanted = std::max<size_t>(1, policy.latest().num_versions());
    return {versions.end() - static_cast<std::ptrdiff_t>(std::min(wanted, versions.size())), versions.end()};
  }
  std::vector<std::string> out;
  for (const std::string& version : versions)
    for (const int64_t wanted : policy.specific().versions())
      if (version == StrCat(wanted) && (out.empty() || out.back() != version)) out.push_back(version);
  for (const int64_t wanted : policy.specific().versions())
    if (std::find(versions.begin(), versions.end(), StrCat(wanted)) == versions.end())
      missing.push_back(StrCat(wanted));
  return out;
}

Result<ModelFiles> FindFiles(const ModelSource& source, const std::string& version,
                             const std::string& default_file, bool needs_file) {
  if (!source.file.empty()) return ModelFiles{source.folder, source.file};
  std::string folder = source.folder + "/" + version;
  if (!Exists(folder)) folder = source.folder;
  if (folder != source.folder) {
    TERN_ASSIGN(folder, FileInside(source.folder, version));
  }
  std::string name = default_file;
  if (name.empty()) {
    auto guess = GuessFile(folder);
    if (!guess.ok() && needs_file) return guess.TakeStatus();
    if (guess.ok()) name = *guess;
  }
  if (name.empty() || (!needs_file && !Exists(folder + "/" + name))) return ModelFiles{folder, ""};
  TERN_ASSIGN(const std::string inside, FileInside(folder, name));
  // A version's folder may be a symbolic link, but only to a folder inside the model's folder.
  const std::string root = Canonical(source.folder) + "/";
  if (!StartsWith(inside + "/", root)) return InvalidArgument("file '", name, "' leaves the model's folder");
  return ModelFiles{folder, inside};
}

std::string Fingerprint(const std::string& path, bool skip_versions) {
  std::vector<std::string> parts;
  std::error_code error;
  fs::directory_entry self(path, error);
  AddToFingerprint(self, path, parts);
  constexpr size_t kMaxFiles = 10'000;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end && parts.size() < kMaxFiles;
       it.increment(error)) {
    const std::string name = it->path().filename();
    if (skip_versions && it.depth() == 0 && IsVersion(name)) {
      it.disable_recursion_pending();
      continue;
    }
    AddToFingerprint(*it, path, parts);
  }
  std::sort(parts.begin(), parts.end());
  return Join(parts, "\n");
}

Status HidePaths(Status status, const ModelSource& source) {
  if (status.ok()) return status;
  std::string text = status.message();
  for (const std::string& part : {source.file, source.folder + "/", source.folder})
    for (size_t at; part.size() > 1 && (at = text.find(part)) != std::string::npos;)
      text.erase(at, part.size());
  return Status(status.code(), std::move(text));
}

}  // namespace tern::server
