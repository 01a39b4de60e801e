// Reads and writes tuning records on disk.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/cpu_info.h"
#include "base/strings.h"
#include "runtime/tune/record.h"

namespace tern {
namespace {

class File {
 public:
  // O_NONBLOCK is set, so that open does not wait for the other end if the path is a pipe.
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666)) {}
  File(const File&) = delete;
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

Status CannotWrite(const std::string& path) {
  return IoError("cannot write '", path, "': ", std::strerror(errno));
}

Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return CannotWrite(path);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

// Replaces the file atomically: writes a temporary file in the same folder, then renames it.
Status Replace(const std::string& path, std::string_view bytes) {
  const std::string temporary = StrCat(path, ".", getpid());
  Status status;
  {
    const File file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (file.fd() < 0) return CannotWrite(temporary);
    status = WriteAll(file.fd(), bytes, temporary);
  }
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) status = CannotWrite(path);
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

// Returns the text of a file, or an empty string if the file or its folder does not exist.
Result<std::string> ReadText(const std::string& path) {
  const File file(path, O_RDONLY);
  if (file.fd() < 0 && errno == ENOENT) return std::string();
  struct stat info {};
  if (file.fd() < 0 || fstat(file.fd(), &info) != 0)
    return IoError("cannot read '", path, "': ", std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return IoError("cannot read '", path, "': not a regular file");
  const auto size = static_cast<size_t>(info.st_size);
  if (size > kMaxRecordBytes)
    return IoError("'", path, "' has ", size, " bytes, but a tuning record has at most ", kMaxRecordBytes,
                   "; delete it");
  std::string text(size, '\0');
  size_t got = 0;
  while (got < size) {
    const ssize_t n = read(file.fd(), text.data() + got, size - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError("cannot read '", path, "': ", std::strerror(errno));
    if (n == 0) break;
    got += static_cast<size_t>(n);
  }
  text.resize(got);
  return text;
}

// Locks the file. Waits at most `timeout`, because the process that holds the lock may be suspended.
Status Lock(int fd, const std::string& path, std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + timeout;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR && errno != EWOULDBLOCK)
      return IoError("cannot lock '", path, "': ", std::strerror(errno));
    if (Clock::now() >= deadline)
      return IoError("cannot lock '", path, "': another process holds it",
                     timeout.count() > 0 ? StrCat(", for more than ", timeout.count(), " ms") : "");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return {};
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Converts text to lower-case letters and digits. Every sequence of other characters becomes one '-'.
std::string Slug(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (plain)
      out += lower;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.substr(0, 100);
}

std::string OneLine(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

}  // namespace

RecordKey RecordKeyFor(const std::string& isa) {
  RecordKey key;
  key.cpu = OneLine(Cpu().model);
  key.isa = isa;
  return key;
}

std::string DefaultCacheDir() {
  if (const std::string folder = Variable("TERN_CACHE_DIR"); !folder.empty()) return folder;
  if (const std::string xdg = Variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/tern";
  const std::string home = Variable("HOME");
  return home.empty() ? "" : home + "/.cache/tern";
}

std::string RecordPath(const std::string& folder, const RecordKey& key) {
  if (folder.empty()) return "";
  return StrCat(folder, "/tuning-", Slug(StrCat(key.cpu.empty() ? "cpu" : key.cpu, " ", key.isa)), "-",
                key.kernels, ".txt");
}

Result<Measurements> ReadRecord(const std::string& path, const RecordKey& key) {
  TERN_ASSIGN(const std::string text, ReadText(path));
  Measurements out;
  for (auto& [node, times] : ParseRecord(text, key)) out[node] = std::move(times);
  return out;
}

Status AddToRecord(const std::string& path, const Measurements& measurements, const RecordKey& key,
                   std::chrono::milliseconds timeout) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error && !std::filesystem::is_directory(folder))
    return IoError("cannot create folder '", folder.string(), "': ", error.message());
  const std::string lock_path = path + ".lock";  // never deleted, so that all processes lock the same file
  const File lock(lock_path, O_RDWR | O_CREAT);
  if (lock.fd() < 0) return CannotWrite(lock_path);
  TERN_TRY(Lock(lock.fd(), lock_path, timeout));
  TERN_ASSIGN(const std::string text, ReadText(path));
  return Replace(path, FormatRecord(measurements, ParseRecord(text, key), key));
}

}  // namespace tern
