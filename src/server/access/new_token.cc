#include "server/access/new_token.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "server/access/access_file.h"

namespace tern::server {
namespace {

// An access file that no other `tern token` changes meanwhile.
class LockedFile {
 public:
  explicit LockedFile(const std::string& path)
      : path_(path), fd_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  ~LockedFile() {
    if (fd_ >= 0) close(fd_);
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  Status Lock() {
    if (fd_ >= 0 && flock(fd_, LOCK_EX) == 0) return {};
    return IoError("cannot open '", path_, "': ", std::strerror(errno));
  }
  Result<std::string> Read() {
    std::string text;
    char block[16384];
    ssize_t n = 0;
    while ((n = read(fd_, block, sizeof block)) > 0) text.append(block, static_cast<size_t>(n));
    if (n < 0) return IoError("cannot read '", path_, "': ", std::strerror(errno));
    return text;
  }
  // One write, so that a server that reads the file at the same time sees all of the text or nothing.
  Status Append(const std::string& text, size_t old_size) {
    const ssize_t written = write(fd_, text.data(), text.size());
    if (written == static_cast<ssize_t>(text.size()) && fsync(fd_) == 0) return {};
    const int error = written < 0 || written == static_cast<ssize_t>(text.size()) ? errno : ENOSPC;
    if (written > 0 && ftruncate(fd_, static_cast<off_t>(old_size)) != 0)
      return IoError("cannot write '", path_, "': ", std::strerror(error),
                     "; its last entry is not complete");
    return IoError("cannot write '", path_, "': ", std::strerror(error));
  }

 private:
  const std::string path_;
  const int fd_;
};

// Reads "90d", "12h", or a time.
Result<WallTime> ExpiryOf(const std::string& text) {
  const char unit = text.empty() ? '\0' : text.back();
  int64_t count = 0;
  if (unit != 'd' && unit != 'h') return ParseTime(text);
  if (!ParseInt(std::string_view(text).substr(0, text.size() - 1), count) || count < 1 || count > 100'000)
    return InvalidArgument("'", text, "' is not a time of 1 to 100000 days (90d) or hours (12h)");
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return ExpiryAt(now + std::chrono::hours(unit == 'd' ? 24 * count : count), text);
}

Result<AccessEntry> EntryOf(const TokenCommand& c) {
  AccessEntry entry;
  entry.name = c.name;
  entry.tenant = c.tenant.empty() ? c.name : c.tenant;
  entry.models = c.models;
  for (const std::string& name : c.roles) {
    TERN_ASSIGN(const Roles role, ParseRole(name));
    entry.roles |= role;
  }
  if (!c.expires.empty()) {
    TERN_ASSIGN(entry.expires, ExpiryOf(c.expires));
  }
  entry.quota.requests_per_s = c.requests_per_s;
  entry.quota.burst = c.burst;
  entry.quota.bytes_per_s = c.bytes_per_s;
  entry.quota.concurrency = static_cast<uint64_t>(c.concurrency);
  entry.quota.queued_bytes = static_cast<uint64_t>(c.queued_bytes);
  if (c.weight > 0) entry.quota.weight = static_cast<uint32_t>(c.weight);
  return entry;
}

// Returns the lines that add the entry to a file with this text. An entry without a quota gets the quota of
// the tenant's other entries.
Result<std::string> LinesFor(AccessEntry entry, const std::string& text, const std::string& file) {
  const auto entries = ParseAccessFile(text);
  if (!entries.ok()) return InvalidArgument("'", file, "': ", entries.status().message());
  if (entry.quota == Quota())
    for (const AccessEntry& other : *entries)
      if (other.tenant == entry.tenant) entry.quota = other.quota;
  const std::string lines = (text.empty() || text.back() == '\n' ? "" : "\n") + EntryText(entry);
  // The file may be a list in another style, to which lines cannot be appended.
  const auto all = ParseAccessFile(text + lines);
  if (!all.ok()) return InvalidArgument("'", file, "' with the new entry: ", all.status().message());
  if (all->size() != entries->size() + 1 || !(all->back() == entry))
    return InvalidArgument("'", file, "' cannot be extended: write it as a list of '- name: …' entries");
  return lines;
}

}  // namespace

Result<std::string> AddToken(const TokenCommand& command) {
  TERN_ASSIGN(AccessEntry entry, EntryOf(command));
  TERN_ASSIGN(const std::string token, MakeToken());
  entry.hash = HashToken(token);
  // A missing file is created only for an entry without errors.
  if (access(command.file.c_str(), F_OK) != 0) TERN_TRY(LinesFor(entry, "", command.file).status());
  LockedFile file(command.file);
  TERN_TRY(file.Lock());
  TERN_ASSIGN(const std::string text, file.Read());
  TERN_ASSIGN(const std::string lines, LinesFor(entry, text, command.file));
  TERN_TRY(file.Append(lines, text.size()));
  return token;
}

}  // namespace tern::server
