#include "server/repository/temporary.h"

#include <cstdlib>
#include <filesystem>

#include "data/file.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

// A name must contain the version's folder, such as "1/model.onnx".
Status CheckName(const std::string& name) {
  const fs::path path(name);
  bool safe = path.is_relative() && name.find('\0') == std::string::npos;
  int parts = 0;
  for (const fs::path& part : path) {
    safe &= part != ".." && part != "." && !part.empty();
    ++parts;
  }
  if (safe && parts >= 2) return {};
  return InvalidArgument("file '", name, "' must have a name of the form <version>/<file>");
}

}  // namespace

Result<std::shared_ptr<TemporaryFolder>> TemporaryFolder::Create(
    const std::map<std::string, std::string>& files) {
  return Guard([&]() -> Result<std::shared_ptr<TemporaryFolder>> {
    for (const auto& [name, bytes] : files) TERN_TRY(CheckName(name));
    std::error_code error;
    std::string path = (fs::temp_directory_path(error) / "tern-model-XXXXXX").string();
    if (error || !mkdtemp(path.data())) return IoError("no temporary folder can be created");
    std::shared_ptr<TemporaryFolder> folder(new TemporaryFolder(path));
    for (const auto& [name, bytes] : files) {
      const fs::path file = fs::path(path) / name;
      TERN_TRY(data::MakeFolders(file.parent_path()));
      if (!data::WriteFile(file, bytes).ok()) return IoError("file '", name, "' cannot be written");
    }
    return folder;
  });
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace tern::server
