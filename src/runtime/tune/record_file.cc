// Records on disk.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/cpu_info.h"
#include "base/strings.h"
#include "kernels/cpu/simd/bf16.h"
#include "kernels/cpu/simd/simd.h"
#include "runtime/tune/record.h"

namespace tern {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;

class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
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

// Beside it under a name of its own, then in its place.
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

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Letters and digits, everything else as single dashes.
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

const char* IsaName() {
  switch (cpu::ActiveSimd()) {
    case cpu::SimdLevel::kAvx512:
      return "avx512";
    case cpu::SimdLevel::kAvx2:
      return "avx2";
    case cpu::SimdLevel::kSse4:
      return "sse4";
    default:
      return Cpu().isa == "neon" ? "neon" : "base";
  }
}

}  // namespace

RecordKey RecordKeyHere() {
  RecordKey key;
  key.cpu = OneLine(Cpu().model);
  key.isa = IsaName();
  if (cpu::ActiveBf16Products()) key.isa += " bf16";
  return key;
}

std::string DefaultCacheDir() {
  if (const std::string own = Variable("TERN_CACHE_DIR"); !own.empty()) return own;
  if (const std::string xdg = Variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/tern";
  const std::string home = Variable("HOME");
  return home.empty() ? "" : home + "/.cache/tern";
}

std::string RecordPath(const std::string& folder, const RecordKey& key) {
  if (folder.empty()) return "";
  return StrCat(folder, "/tuning-", Slug(StrCat(key.cpu.empty() ? "cpu" : key.cpu, " ", key.isa)), "-",
                key.kernels, ".txt");
}

Measurements ReadRecord(const std::string& path, const RecordKey& key) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || size > kMostBytes || !std::filesystem::is_regular_file(path, error)) return {};
  const File file(path, O_RDONLY);
  std::string text(file.fd() < 0 ? 0 : static_cast<size_t>(size), '\0');
  size_t got = 0;
  while (got < text.size()) {
    const ssize_t n = read(file.fd(), text.data() + got, text.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  return ParseRecord(std::string_view(text).substr(0, got), key);
}

Status AddToRecord(const std::string& path, const Measurements& measurements, const RecordKey& key) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error && !std::filesystem::is_directory(folder))
    return IoError("cannot make folder '", folder.string(), "': ", error.message());
  const std::string lock_path = path + ".lock";  // stays: who waits for it must find the same file
  const File lock(lock_path, O_RDWR | O_CREAT);
  if (lock.fd() < 0) return CannotWrite(lock_path);
  while (flock(lock.fd(), LOCK_EX) != 0)
    if (errno != EINTR) return IoError("cannot lock '", lock_path, "': ", std::strerror(errno));
  Measurements all = ReadRecord(path, key);
  for (const auto& [node, times] : measurements) all[node] = times;
  return Replace(path, FormatRecord(all, key));
}

}  // namespace tern
