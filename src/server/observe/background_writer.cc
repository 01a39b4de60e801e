#include "server/observe/background_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tern::server {
namespace {

int OpenFile(const std::string& path) {
  if (path == "-") return dup(STDOUT_FILENO);
  return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

}  // namespace

Result<std::unique_ptr<BackgroundWriter>> BackgroundWriter::Open(const std::string& path, size_t limit) {
  const int fd = OpenFile(path);
  if (fd < 0) return IoError("cannot open '", path, "' for writing: ", std::strerror(errno));
  return std::unique_ptr<BackgroundWriter>(new BackgroundWriter(path, fd, limit));
}

BackgroundWriter::BackgroundWriter(std::string path, int fd, size_t limit)
    : path_(std::move(path)), limit_(limit), fd_(fd), thread_([this] { Work(); }) {}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
  if (fd_ >= 0) close(fd_);
}

void BackgroundWriter::Add(std::string_view text) {
  bool wake = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pending_.size() + text.size() > limit_) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    wake = pending_.empty() && !busy_;
    pending_ += text;
    ++pending_adds_;
  }
  if (wake) wake_.notify_one();
}

void BackgroundWriter::Flush() {
  std::unique_lock<std::mutex> lock(mutex_);
  written_.wait(lock, [this] { return pending_.empty() && !busy_; });
}

void BackgroundWriter::Reopen() { reopen_.store(true); }

void BackgroundWriter::Work() {
  std::string text;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !pending_.empty(); });
    if (pending_.empty()) return;
    text.swap(pending_);
    pending_.clear();
    const uint64_t adds = std::exchange(pending_adds_, 0);
    busy_ = true;
    lock.unlock();
    if (!Write(text)) dropped_.fetch_add(adds, std::memory_order_relaxed);
    lock.lock();
    busy_ = false;
    written_.notify_all();
  }
}

void BackgroundWriter::OpenAgain() {
  const int fd = OpenFile(path_);
  if (fd < 0) return;  // continues with the old file
  close(fd_);
  fd_ = fd;
}

bool BackgroundWriter::Write(std::string_view text) {
  if (reopen_.exchange(false)) OpenAgain();
  while (!text.empty()) {
    const ssize_t n = write(fd_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace tern::server
