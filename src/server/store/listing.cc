#include "server/store/listing.h"

#include <algorithm>

#include "server/repository/config.h"
#include "server/store/digest.h"

namespace tern::server {
namespace {

constexpr size_t kMaxKey = 1024, kMaxPart = 255, kMaxDepth = 16;
constexpr size_t kMaxFiles = 10'000;  // of a model

bool Hidden(std::string_view key) { return StartsWith(key, ".") || key.find("/.") != std::string_view::npos; }

// Fails if one file is a folder of another, or if a path occurs twice.
Status CheckFiles(const std::vector<ObjectInfo>& files) {
  if (files.size() > kMaxFiles)
    return ResourceExhausted("the model has ", files.size(), " files, more than ", kMaxFiles);
  std::vector<std::string> paths;
  for (const ObjectInfo& file : files) paths.push_back(file.path);
  std::sort(paths.begin(), paths.end());
  for (size_t i = 1; i < paths.size(); ++i)
    if (paths[i] == paths[i - 1]) return InvalidArgument("'", paths[i], "' is listed twice");
  for (const std::string& path : paths)
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
      if (std::binary_search(paths.begin(), paths.end(), path.substr(0, slash)))
        return InvalidArgument("'", path.substr(0, slash), "' is both a file and a folder");
  return {};
}

void Describe(RemoteUnit& unit) {
  std::sort(unit.files.begin(), unit.files.end(),
            [](const ObjectInfo& a, const ObjectInfo& b) { return a.path < b.path; });
  std::string text;
  unit.complete = !unit.files.empty();
  for (size_t i = 0; i < unit.files.size(); ++i) {
    const ObjectInfo& file = unit.files[i];
    text += StrCat(file.path, "\n", file.version, "\n", file.size, "\n");
    unit.complete &= file.complete;
    if (i == 0 || unit.age < 0 || file.age < 0)
      unit.age = i == 0 || file.age < 0 ? file.age : unit.age;
    else
      unit.age = std::min(unit.age, file.age);
  }
  unit.signature = Hex(Sha256(text));
}

}  // namespace

const ObjectInfo* RemoteUnit::Find(const std::string& path) const {
  for (const ObjectInfo& file : files)
    if (file.path == path) return &file;
  return nullptr;
}

Status CheckKey(std::string_view key) {
  const std::string shown(key.substr(0, 100));
  if (key.empty() || key.size() > kMaxKey)
    return InvalidArgument("the key '", shown, "' has ", key.size(), " bytes, not 1 to ", kMaxKey);
  for (const char c : key)
    if (static_cast<unsigned char>(c) < 32 || c == 127 || c == '\\')
      return InvalidArgument("the key ", QuoteText(shown), " has a control character or a backslash");
  size_t parts = 0;
  for (const std::string& part : SplitText(key, '/')) {
    if (part.empty() || part == "." || part == "..")
      return InvalidArgument("the key '", shown, "' is not a plain relative path");
    if (part.size() > kMaxPart)
      return InvalidArgument("the key '", shown, "' has a name of more than ", kMaxPart, " bytes");
    ++parts;
  }
  if (parts > kMaxDepth) return InvalidArgument("the key '", shown, "' has more than ", kMaxDepth, " parts");
  return {};
}

RemoteListing SortListing(std::vector<ObjectInfo> objects) {
  RemoteListing listing;
  for (ObjectInfo& object : objects) {
    const size_t slash = object.key.find('/');
    const std::string name = object.key.substr(0, slash);
    if (slash == std::string::npos || Hidden(name) || !CheckModelName(name).ok()) {
      listing.ignored.push_back(std::move(object.key));
      continue;
    }
    if (object.key.back() == '/' && object.size == 0) continue;  // the marker of a folder
    RemoteModel& model = listing.models[name];
    if (const Status status = CheckKey(object.key); !status.ok()) {
      model.status = status;
      continue;
    }
    object.path = object.key.substr(slash + 1);
    if (Hidden(object.path)) continue;
    const std::string folder = object.path.substr(0, object.path.find('/'));
    const bool version = folder.size() < object.path.size() && IsVersion(folder);
    model.units[version ? folder : ""].files.push_back(std::move(object));
  }
  for (auto& [name, model] : listing.models) {
    std::vector<ObjectInfo> all;
    for (auto& [version, unit] : model.units) {
      Describe(unit);
      all.insert(all.end(), unit.files.begin(), unit.files.end());
    }
    if (model.status.ok()) model.status = CheckFiles(all);
  }
  return listing;
}

}  // namespace tern::server
