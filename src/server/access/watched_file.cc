#include "server/access/watched_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

namespace tern::server {
namespace {

constexpr std::chrono::seconds kInterval{1};
constexpr off_t kMaxBytes = off_t{16} << 20;
// A file that was written at most this long ago may be written again without a change of its times.
constexpr int64_t kRacySeconds = 2;

bool Same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
         a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

class File {
 public:
  // O_NONBLOCK, because opening a pipe would wait for its writer.
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

Status ReadAll(int fd, const std::string& path, std::string& out) {
  char block[16384];
  for (;;) {
    const ssize_t n = read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError("cannot read '", path, "': ", std::strerror(errno));
    if (n == 0) return {};
    out.append(block, static_cast<size_t>(n));
    if (out.size() > static_cast<size_t>(kMaxBytes))
      return InvalidArgument("'", path, "' has more than ", static_cast<int64_t>(kMaxBytes), " bytes");
  }
}

}  // namespace

Result<bool> WatchedFile::Refresh() {
  if (path_.empty()) return false;
  struct stat now {};
  if (settled_ && stat(path_.c_str(), &now) == 0 && Same(now, seen_)) return false;
  settled_ = false;
  const File file(path_);
  if (file.fd() < 0) return IoError("cannot open '", path_, "': ", std::strerror(errno));
  if (fstat(file.fd(), &now) != 0) return IoError("cannot open '", path_, "': ", std::strerror(errno));
  if (!S_ISREG(now.st_mode)) return InvalidArgument("'", path_, "' is not a regular file");
  std::string content;
  TERN_TRY(ReadAll(file.fd(), path_, content));
  const bool changed = !read_ || content != content_;
  content_ = std::move(content);
  read_ = true;
  seen_ = now;
  settled_ = std::time(nullptr) - now.st_mtim.tv_sec > kRacySeconds;
  return changed;
}

ReloadThread::ReloadThread(std::vector<std::function<void()>> functions)
    : functions_(std::move(functions)), thread_([this] { Run(); }) {}

ReloadThread::~ReloadThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ReloadThread::Wake() {
  const std::lock_guard lock(mutex_);
  wake_ = true;
  changed_.notify_all();
}

void ReloadThread::Run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    changed_.wait_for(lock, kInterval, [this] { return stop_ || wake_; });
    if (stop_) return;
    wake_ = false;
    lock.unlock();
    for (const auto& function : functions_) {
      // A file that cannot be read, or no memory: the next round tries again.
      static_cast<void>(Guard([&]() -> Status {
        function();
        return {};
      }));
    }
    lock.lock();
  }
}

}  // namespace tern::server
