#include "server/access/audit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "server/core/log.h"
#include "server/observe/access_line.h"

namespace tern::server {
namespace {

constexpr size_t kMaxLogged = 2048;  // bytes of a value in a line

int OpenFile(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

void AppendField(const char* name, std::string_view value, std::string& out) {
  if (value.empty()) return;
  out += name;
  AppendJsonText(value.substr(0, kMaxLogged), out);
}

std::string StartOf(const char* event, const AuditAction& action, uint64_t number) {
  std::string line = "{\"time\":\"";
  AppendTime(std::chrono::system_clock::now(), line);
  line += StrCat("\",\"event\":\"", event, "\",\"process\":", getpid(), ",\"number\":", number);
  AppendField(",\"user\":", action.user, line);
  AppendField(",\"address\":", action.address, line);
  AppendField(",\"protocol\":", action.protocol, line);
  AppendField(",\"target\":", action.target, line);
  AppendField(",\"name\":", action.model, line);
  return line;
}

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::Open(const AuditOptions& options) {
  const int fd = OpenFile(options.file);
  if (fd < 0) return IoError("cannot open the audit log '", options.file, "': ", std::strerror(errno));
  return std::unique_ptr<AuditLog>(new AuditLog(options, fd));
}

AuditLog::~AuditLog() { close(fd_); }

// Called under the lock.
Status AuditLog::Write(const std::string& line) {
  // A line that a full disk cut off must not swallow the next one.
  const std::string text = partial_ ? "\n" + line : line;
  ssize_t written = 0;
  do written = write(fd_, text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written > 0) partial_ = static_cast<size_t>(written) != text.size();
  const int error = written < 0 ? errno : partial_ ? ENOSPC : 0;
  if (error == 0 && fdatasync(fd_) == 0) return {};
  // Pipes and devices cannot be synchronized.
  if (error == 0 && (errno == EINVAL || errno == EROFS)) return {};
  failures_.fetch_add(1, std::memory_order_relaxed);
  return Unavailable("the audit log cannot be written: ", std::strerror(error ? error : errno));
}

Status AuditLog::Begin(const AuditAction& action, uint64_t& number) {
  const std::lock_guard lock(mutex_);
  number = next_++;
  std::string line = StartOf("start", action, number);
  line += StrCat(",\"body_bytes\":", action.body_bytes);
  AppendField(",\"detail\":", action.detail, line);
  const Status status = Write(line + "}\n");
  if (status.ok()) return {};
  Log(LogLevel::kError, StrCat(status.message(), options_.required ? "; " : "; not refused: ", action.user,
                               " ", action.target, options_.required ? " is refused" : ""));
  return options_.required ? status : Status();
}

void AuditLog::End(const AuditAction& action, uint64_t number, int status, std::string_view error) {
  const std::lock_guard lock(mutex_);
  std::string line = StartOf("end", action, number);
  line += StrCat(",\"status\":", status);
  AppendField(",\"error\":", error, line);
  const Status written = Write(line + "}\n");
  if (!written.ok())
    Log(LogLevel::kError,
        StrCat(written.message(), "; the result of action ", number, " (", action.target, ") was ", status));
}

void AuditLog::Reopen() {
  const std::lock_guard lock(mutex_);
  const int fd = OpenFile(options_.file);
  if (fd < 0) {
    Log(LogLevel::kError, StrCat("cannot open the audit log '", options_.file,
                                 "' again: ", std::strerror(errno), "; the old file stays in use"));
    return;
  }
  close(fd_);
  fd_ = fd;
  partial_ = false;
}

}  // namespace tern::server
