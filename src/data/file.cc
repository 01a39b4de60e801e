#include "data/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

namespace fs = std::filesystem;

namespace tern::data {
namespace {

// Paths to remove when a signal ends the program. Their memory is static, because a signal handler must not
// allocate.
constexpr int kSlots = 16, kMaxPath = 4096;
struct Slot {
  std::atomic<int> state{0};  // 0 means free, 1 means being filled or read, 2 means a file, 3 means a folder
  char path[kMaxPath];
};
Slot slots[kSlots];

void Remember(const std::string& path, int kind) {
  if (path.size() >= kMaxPath) return;
  for (Slot& slot : slots) {
    int free = 0;
    if (!slot.state.compare_exchange_strong(free, 1)) continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.state = kind;
    return;
  }
}

void Forget(const std::string& path) {
  for (Slot& slot : slots) {
    int kind = slot.state;
    if (kind < 2 || !slot.state.compare_exchange_strong(kind, 1)) continue;
    slot.state = path == slot.path ? 0 : kind;
  }
}

// Model writers create files with these suffixes in a staging folder. ".data" is the file of weights.
// ".partial" is a file that is not complete yet.
constexpr const char* kStaged[] = {"", ".data", ".partial", ".data.partial"};

std::string TemporaryName(const fs::path& path) {
  static std::atomic<int> counter{0};
  const std::string name = StrCat(".", path.filename().string(), ".", getpid(), ".", counter++, ".tmp");
  return (path.parent_path() / name).string();
}

Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError("cannot write '", path, "': ", std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

// If `path` is a symbolic link, returns the path that it points to, even if no file exists there yet.
Result<fs::path> FollowLinks(const std::string& path) {
  constexpr int kMaxLinks = 40;  // the limit of Linux
  fs::path at(path);
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(at, error))) return at;
    const fs::path to = fs::read_symlink(at, error);
    if (error) return IoError("cannot write '", path, "': ", error.message());
    at = to.is_absolute() ? to : at.parent_path() / to;
  }
  return IoError("cannot write '", path, "': ", std::strerror(ELOOP));
}

bool IsSpecial(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

Status Close(int fd, Status status, const std::string& path) {
  if (close(fd) == 0 || !status.ok()) return status;
  return IoError("cannot write '", path, "': ", std::strerror(errno));
}

Status WriteSpecial(const std::string& path, std::string_view bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return IoError("cannot write '", path, "': ", std::strerror(errno));
  return Close(fd, WriteAll(fd, bytes, path), path);
}

Status Rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return {};
  return IoError("cannot write '", to, "': ", std::strerror(errno));
}

// A file of the target's folder that a staged file replaces, or is to replace.
struct Replaced {
  std::string path;
  std::string former;  // a name of the former file in the hidden folder; empty if there was none
  bool moved = false;  // the staged file is at `path`
};

// Gives the file at `path` a second name, or moves it there where the file system has no hard links. Does
// nothing if there is no file, or a directory, which rename does not replace by a file.
Status KeepFormer(const std::string& path, const std::string& name, Replaced& replaced) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (!fs::exists(status) || fs::is_directory(status)) return {};
  if (link(path.c_str(), name.c_str()) != 0 && std::rename(path.c_str(), name.c_str()) != 0)
    return IoError("cannot replace '", path, "': ", std::strerror(errno));
  replaced.former = name;
  return {};
}

Status Replace(const std::string& from, Replaced& replaced) {
  TERN_TRY(KeepFormer(replaced.path, from + ".old", replaced));
  TERN_TRY(Rename(from, replaced.path));
  replaced.moved = true;
  return {};
}

Status PutBack(const Replaced& replaced) {
  if (!replaced.former.empty()) return Rename(replaced.former, replaced.path);
  if (replaced.moved) unlink(replaced.path.c_str());
  return {};
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  TERN_ASSIGN(Buffer file, Buffer::MapFile(path));
  return std::string(reinterpret_cast<const char*>(file.data()), file.size());
}

Result<std::string> ReadStandardInput() {
  static std::atomic<bool> read_before{false};
  if (read_before.exchange(true)) return InvalidArgument("standard input (-) is given twice");
  std::string all;
  char block[1 << 16];
  for (;;) {
    const ssize_t n = read(STDIN_FILENO, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError("cannot read standard input: ", std::strerror(errno));
    if (n == 0) return all;
    all.append(block, static_cast<size_t>(n));
  }
}

Status WriteFile(const std::string& path, std::string_view bytes) {
  if (IsSpecial(path)) return WriteSpecial(path, bytes);
  TERN_ASSIGN(const fs::path target, FollowLinks(path));
  const std::string temporary = TemporaryName(target);
  Remember(temporary, 2);
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) {
    const int error = errno;
    Forget(temporary);
    return IoError("cannot write '", path, "': ", std::strerror(error));
  }
  Status status = Close(fd, WriteAll(fd, bytes, path), path);
  if (status.ok()) status = Rename(temporary, target.string());
  if (!status.ok()) unlink(temporary.c_str());
  Forget(temporary);
  return status;
}

Status MakeFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error && !fs::is_directory(path))
    return IoError("cannot create folder '", path, "': ", error.message());
  return {};
}

Result<Staging> Staging::Beside(const std::string& path) {
  if (IsSpecial(path)) return InvalidArgument("'", path, "' is not a regular file");
  TERN_ASSIGN(const fs::path target, FollowLinks(path));
  if (target.filename().empty()) return InvalidArgument("'", path, "' names no file");
  const std::string folder = TemporaryName(target);
  std::error_code error;
  if (!fs::create_directory(folder, error)) return IoError("cannot write '", path, "': ", error.message());
  const std::string file = (fs::path(folder) / target.filename()).string();
  Remember(folder, 3);
  for (const char* suffix : kStaged) Remember(file + suffix, 2);
  return Staging(target.string(), folder, file);
}

Staging::Staging(Staging&& other) noexcept
    : target_(std::move(other.target_)), folder_(std::move(other.folder_)), file_(std::move(other.file_)) {
  other.folder_.clear();
}

Staging::~Staging() {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  Release();
}

void Staging::Release() {
  Forget(folder_);
  for (const char* suffix : kStaged) Forget(file_ + suffix);
  folder_.clear();
}

Status Staging::Commit() {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder_, error)) files.push_back(entry.path());
  if (error) return IoError("cannot write '", target_, "': ", error.message());
  const fs::path to = fs::path(target_).parent_path();
  Status status;
  std::vector<Replaced> replaced;
  for (const fs::path& file : files)
    if (status.ok() && file != file_)
      status = Replace(file.string(), replaced.emplace_back(Replaced{(to / file.filename()).string(), {}}));
  if (status.ok()) status = Rename(file_, target_);
  if (status.ok()) return status;
  std::string lost;
  for (const Replaced& r : replaced)
    if (!PutBack(r).ok()) lost += StrCat("; the former '", r.path, "' is now '", r.former, "'");
  if (lost.empty()) return status;
  Release();  // the former files are nowhere else
  return IoError(status.message(), lost);
}

void RemovePendingFiles() {
  for (const int kind : {2, 3})  // files first, then their folders
    for (Slot& slot : slots) {
      if (slot.state != kind) continue;
      if (kind == 2)
        unlink(slot.path);
      else
        rmdir(slot.path);
    }
}

}  // namespace tern::data
