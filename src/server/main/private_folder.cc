#include "server/main/private_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace tern::server {

Result<std::unique_ptr<PrivateFolder>> PrivateFolder::Create() {
  const char* parent = std::getenv("TMPDIR");
  std::string path = StrCat(parent && *parent ? parent : "/tmp", "/tern_serve_XXXXXX");
  if (!mkdtemp(path.data())) return IoError("cannot make the folder '", path, "': ", std::strerror(errno));
  return std::unique_ptr<PrivateFolder>(new PrivateFolder(std::move(path)));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tern::server
