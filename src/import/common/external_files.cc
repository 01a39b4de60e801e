#include "import/common/external_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tern::import {
namespace {

namespace fs = std::filesystem;

class File {
 public:
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  explicit File(const fs::path& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  // Returns a path that always refers to the open file, even if the original path now names another file.
  std::string proc_path() const { return StrCat("/proc/self/fd/", fd_); }

 private:
  int fd_;
};

Status CheckLocation(const std::string& location, const std::string& tensor) {
  const fs::path relative(location);
  if (location.empty() || relative.is_absolute())
    return InvalidModel("external data of tensor '", tensor, "' must be a relative path, got '", location,
                        "'");
  if (std::find(relative.begin(), relative.end(), "..") == relative.end()) return {};
  return InvalidModel("external data of tensor '", tensor, "' leaves the model's folder: '", location, "'");
}

bool Inside(const fs::path& root, const fs::path& path) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

}  // namespace

// Opens the file first, then checks the real path of the open file. In the other order, another process could
// change a symbolic link between the check and the opening.
Result<Buffer> ExternalFiles::Map(const std::string& location, const std::string& tensor) {
  const auto fail = [&](const auto&... why) {
    return IoError("external data file '", location, "' of tensor '", tensor, "': ", why...);
  };
  TERN_TRY(CheckLocation(location, tensor));
  std::error_code error;
  const fs::path root = fs::canonical(folder_, error);
  if (error) return IoError("cannot open the model's folder '", folder_, "': ", error.message());
  const File file(root / location);
  if (file.fd() < 0) return fail(std::strerror(errno));
  const fs::path where = fs::read_symlink(file.proc_path(), error);
  if (error) return fail("cannot find its real path: ", error.message());
  if (!Inside(root, where))
    return InvalidModel("external data of tensor '", tensor, "' leaves the model's folder: '", location, "'");
  struct stat info {};
  if (fstat(file.fd(), &info) != 0) return fail(std::strerror(errno));
  const Identity identity{info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  if (auto it = maps_.find(identity); it != maps_.end()) return it->second;
  if (!S_ISREG(info.st_mode)) return fail("not a regular file");
  auto mapped = Buffer::MapFile(file.proc_path());
  if (!mapped.ok()) return fail(mapped.status().message());
  maps_[identity] = *mapped;
  return mapped;
}

}  // namespace tern::import
