// Files that are read again when they change, and the thread that checks them.
#pragma once
#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"

namespace tern::server {

// Not thread-safe.
class WatchedFile {
 public:
  explicit WatchedFile(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }
  const std::string& content() const { return content_; }  // of the last successful Refresh
  // Reads the file if it may have changed since the last call. Returns whether content() changed. An empty
  // path is an empty file.
  Result<bool> Refresh();

 private:
  const std::string path_;
  std::string content_;
  struct stat seen_ {};
  bool settled_ = false;  // seen_ describes content_, and a later write would change the times in seen_
  bool read_ = false;
};

// Calls functions once a second, and soon after Wake.
class ReloadThread {
 public:
  explicit ReloadThread(std::vector<std::function<void()>> functions);
  ~ReloadThread();
  ReloadThread(const ReloadThread&) = delete;
  ReloadThread& operator=(const ReloadThread&) = delete;
  void Wake();  // thread-safe

 private:
  void Run();
  const std::vector<std::function<void()>> functions_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false, wake_ = false;
  std::thread thread_;
};

}  // namespace tern::server
