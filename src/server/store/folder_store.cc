// A folder, for example of a network file system, whose models are copied before they are loaded.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "server/store/store_url.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

// Uses the time of the last change of the inode (ctime), because programs that copy files can set the other
// times.
std::string VersionOf(const struct stat& s) {
  return StrCat(static_cast<uint64_t>(s.st_ino), "-", static_cast<int64_t>(s.st_size), "-",
                static_cast<int64_t>(s.st_ctim.tv_sec), ".", static_cast<int64_t>(s.st_ctim.tv_nsec));
}

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool Is(const ObjectInfo& object) const {
    struct stat s {};
    return fstat(fd_, &s) == 0 && S_ISREG(s.st_mode) && VersionOf(s) == object.version;
  }

 private:
  const int fd_;
};

class FolderStore : public ObjectStore {
 public:
  explicit FolderStore(std::string root) : root_(std::move(root)) {}

  Result<std::vector<ObjectInfo>> List(const std::string& folder, const Stop& stop) override {
    std::vector<ObjectInfo> all;
    std::error_code error;
    if (!fs::is_directory(root_, error)) return IoError("'", root_, "' is not a folder that can be read");
    const std::string from = folder.empty() ? root_ : StrCat(root_, "/", folder);
    if (!fs::is_directory(from, error)) return all;
    // The iterator does not follow symbolic links to folders, and links to files are not listed.
    for (fs::recursive_directory_iterator it(from, error), end; !error && it != end; it.increment(error)) {
      TERN_TRY(stop.Check());
      struct stat s {};
      if (lstat(it->path().c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
      if (all.size() == kMaxObjects)
        return ResourceExhausted("'", root_, "' has more than ", kMaxObjects, " files");
      ObjectInfo object;
      object.key = it->path().lexically_relative(root_).string();
      object.size = static_cast<uint64_t>(s.st_size);
      object.version = VersionOf(s);
      timespec now{};
      clock_gettime(CLOCK_REALTIME, &now);
      object.age = std::max(0.0, static_cast<double>(now.tv_sec - s.st_ctim.tv_sec) +
                                     static_cast<double>(now.tv_nsec - s.st_ctim.tv_nsec) * 1e-9);
      all.push_back(std::move(object));
    }
    if (error) return IoError("cannot list '", from, "': ", error.message());
    return all;
  }

  Result<FetchedSums> Fetch(const ObjectInfo& object, uint64_t offset, const ObjectSink& sink,
                            const Stop& stop) override {
    const File file(StrCat(root_, "/", object.key));
    if (file.fd() < 0) return NotFound("cannot read '", object.key, "': ", std::strerror(errno));
    const Status changed = Unavailable("'", object.key, "' changed while it was copied");
    if (!file.Is(object)) return changed;
    std::string block(1 << 20, '\0');
    for (uint64_t at = offset;;) {
      TERN_TRY(stop.Check());
      const ssize_t got = pread(file.fd(), block.data(), block.size(), static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return IoError("cannot read '", object.key, "': ", std::strerror(errno));
      if (got == 0) break;
      TERN_TRY(sink(at, std::string_view(block).substr(0, static_cast<size_t>(got))));
      at += static_cast<uint64_t>(got);
    }
    if (!file.Is(object)) return changed;
    return FetchedSums{};
  }

 private:
  const std::string root_;
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> OpenFolder(const StoreUrl& url) {
  std::string root = url.prefix;
  while (root.size() > 1 && root.back() == '/') root.pop_back();
  return std::unique_ptr<ObjectStore>(new FolderStore(root));
}

}  // namespace tern::server
