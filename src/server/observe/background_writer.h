// Appends text to a file on a separate thread, so that event loops never wait for a disk.
#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/status.h"

namespace tern::server {

// Thread-safe.
class BackgroundWriter {
 public:
  // The path "-" is standard output. At most `limit` bytes wait to be written. Text that exceeds the limit is
  // dropped.
  static Result<std::unique_ptr<BackgroundWriter>> Open(const std::string& path, size_t limit = 8 << 20);
  ~BackgroundWriter();  // writes all waiting text first
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Never blocks on the file.
  void Add(std::string_view text);
  // Returns the number of calls of Add whose text was dropped, because too much text waited or the file could
  // not be written.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  void Flush();  // waits until all added text is written or dropped
  // Opens the path again before the next write, because a program may have renamed the file to rotate logs.
  void Reopen();

 private:
  BackgroundWriter(std::string path, int fd, size_t limit);
  void Work();
  bool Write(std::string_view text);
  void OpenAgain();

  const std::string path_;
  const size_t limit_;
  int fd_;  // used by the thread only
  std::mutex mutex_;
  std::condition_variable wake_, written_;
  std::string pending_;
  uint64_t pending_adds_ = 0;
  bool busy_ = false, stop_ = false;
  std::atomic<bool> reopen_{false};
  std::atomic<uint64_t> dropped_{0};
  std::thread thread_;
};

}  // namespace tern::server
