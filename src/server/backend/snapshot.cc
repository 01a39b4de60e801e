#include "server/backend/snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/backend/host.h"

namespace tern::server {
namespace {

constexpr size_t kSnapshotLimit = size_t{1} << 30;

bool ReadAll(int fd, std::byte* to, size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = read(fd, to, bytes);
    if (got <= 0) return false;  // the file became shorter
    to += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

Buffer ReadSnapshot(const std::string& path, size_t limit) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  Buffer out;
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && static_cast<uint64_t>(info.st_size) <= limit)
    out = AllocateOutput(static_cast<size_t>(info.st_size));
  if (out.defined() && !ReadAll(fd, out.data(), out.size())) out = Buffer();
  close(fd);
  return out;
}

Result<load::Loaded> LoadSnapshot(const std::string& path, std::map<std::string, Type> input_types,
                                  const std::string& signature) {
  const load::LoadOptions how{
      .threads = 1, .weights = {}, .signature = signature, .input_types = std::move(input_types)};
  if (const Buffer bytes = ReadSnapshot(path, kSnapshotLimit); bytes.defined()) {
    auto loaded = load::LoadBytes(bytes, how);
    if (loaded.ok()) return loaded;
  }
  // The bytes alone are not enough if only the file name identifies the format, or if the model refers to
  // other files.
  return load::LoadFile(path, how);
}

}  // namespace tern::server
