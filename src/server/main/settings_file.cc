// Reads the server's YAML file.
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "data/file.h"
#include "server/main/options.h"

namespace tern::server {
namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

Status AddValue(const std::string& name, const YAML::Node& value, Names& out) {
  if (value.IsScalar()) {
    out.emplace_back(name, value.Scalar());
    return {};
  }
  if (!value.IsSequence()) return InvalidArgument("'", name, "' is neither a value nor a list of values");
  for (const YAML::Node& item : value) {
    if (!item.IsScalar()) return InvalidArgument("'", name, "' has an item that is not a value");
    out.emplace_back(name, item.Scalar());
  }
  return {};
}

Result<Names> Flatten(const YAML::Node& root) {
  Names out;
  if (root.IsNull()) return out;
  if (!root.IsMap()) return InvalidArgument("it is not a map of settings");
  for (const auto& entry : root) {
    if (!entry.first.IsScalar()) return InvalidArgument("a key is not text");
    std::string name = entry.first.Scalar();
    std::replace(name.begin(), name.end(), '_', '-');
    TERN_TRY(AddValue(name, entry.second, out));
  }
  return out;
}

}  // namespace

Result<Names> ReadSettingsFile(const std::string& path) {
  TERN_ASSIGN(const std::string text, data::ReadFile(path));
  try {
    Result<Names> names = Flatten(YAML::Load(text));
    if (names.ok()) return names;
    return InvalidArgument("'", path, "': ", names.status().message());
  } catch (const YAML::Exception& e) {
    return InvalidArgument("'", path, "' is not YAML: line ", e.mark.line + 1, ": ", e.msg);
  }
}

}  // namespace tern::server
