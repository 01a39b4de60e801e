// The log of what clients change: models, settings, shared memory.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::server {

struct AuditOptions {
  std::string file;      // empty: off
  bool required = true;  // refuse an action that cannot be logged
};

// Who does what. The caller keeps the texts until the action has ended.
struct AuditAction {
  std::string_view user;      // the name in the access file; empty: unknown
  std::string_view address;   // of the peer
  std::string_view protocol;  // "http", "grpc"
  std::string_view target;    // path or method
  std::string_view model;     // or the region of shared memory; may be empty
  std::string_view detail;    // the text of a short request; may be empty
  uint64_t body_bytes = 0;
};

// Writes two lines of JSON per action: one before it, with "event":"start", and one after it, with
// "event":"end" and the result. Both lines have the same number. Each line is one write to a file that is
// opened for appending. It is on the disk (fdatasync) before the action begins, or before the action is
// answered. Blocks. Thread-safe.
class AuditLog {
 public:
  static Result<std::unique_ptr<AuditLog>> Open(const AuditOptions& options);
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // An error means that the action must not happen.
  Status Begin(const AuditAction& action, uint64_t& number);
  // `status` is that of HTTP or of gRPC. If the line cannot be written, the server's log says so: the action
  // has happened already.
  void End(const AuditAction& action, uint64_t number, int status, std::string_view error);
  // Opens the file again, because a program may have renamed it.
  void Reopen();
  uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

 private:
  AuditLog(const AuditOptions& options, int fd) : options_(options), fd_(fd) {}
  Status Write(const std::string& line);

  const AuditOptions options_;
  std::mutex mutex_;  // guards the members below
  int fd_;
  uint64_t next_ = 1;
  bool partial_ = false;  // the last line in the file has no end
  std::atomic<uint64_t> failures_{0};
};

}  // namespace tern::server
