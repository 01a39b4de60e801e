#include "server/store/download.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "server/store/digest.h"

namespace tern::server {
namespace {

class Target {
 public:
  Target(const ObjectInfo& object, const RoomFor& room, TransferCounters& counters)
      : object_(object), room_(room), counters_(counters) {}
  ~Target() {
    if (fd_ < 0) return;
    close(fd_);
    unlink(path_.c_str());
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  Status Create(const std::string& path);
  Status Add(uint64_t offset, std::string_view bytes);
  // Checks what has arrived. If it is wrong, the next attempt starts over.
  Result<CopiedFile> Finish(const FetchedSums& fetched, const std::string& sha256);
  Status Sync();
  uint64_t size() const { return size_; }

 private:
  Status Restart();
  Status DiskError(const char* what, int error) const;

  const ObjectInfo& object_;
  const RoomFor& room_;
  TransferCounters& counters_;
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
  Digests digests_;
};

Status Target::DiskError(const char* what, int error) const {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    return ResourceExhausted("the disk of the repository cache is full: cannot ", what, " '", object_.key,
                             "' after ", size_, " bytes: ", std::strerror(error));
  return Status(Code::kInternal, StrCat("cannot ", what, " '", object_.key,
                                        "' in the repository cache: ", std::strerror(error)));
}

Status Target::Create(const std::string& path) {
  path_ = path;
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  return fd_ >= 0 ? Status() : DiskError("create", errno);
}

Status Target::Restart() {
  size_ = 0;
  digests_.Restart();
  return ftruncate(fd_, 0) == 0 && lseek(fd_, 0, SEEK_SET) == 0 ? Status() : DiskError("truncate", errno);
}

Status Target::Add(uint64_t offset, std::string_view bytes) {
  if (offset == 0 && size_ != 0) TERN_TRY(Restart());
  if (offset != size_)
    return IoError("the store sent byte ", offset, " of '", object_.key, "' after byte ", size_);
  TERN_TRY(room_(size_ + bytes.size()));
  digests_.Add(bytes);
  while (!bytes.empty()) {
    const ssize_t n = write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return DiskError("write", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
    size_ += static_cast<uint64_t>(n);
    counters_.bytes.fetch_add(static_cast<uint64_t>(n), std::memory_order_relaxed);
  }
  return {};
}

Result<CopiedFile> Target::Finish(const FetchedSums& fetched, const std::string& sha256) {
  const uint64_t size = size_;
  const std::string sha_is = digests_.Sha256Hex(), md5_is = digests_.Md5Hex();
  Status status;
  if (object_.size_known && size != object_.size)
    status = IoError("'", object_.key, "' has ", size, " bytes instead of ", object_.size);
  for (const std::string& expected : {sha256, object_.sha256, fetched.sha256})
    if (status.ok() && !expected.empty() && expected != sha_is)
      status = IoError("the SHA-256 of '", object_.key, "' is ", sha_is, " instead of ", expected);
  for (const std::string& expected : {object_.md5, fetched.md5})
    if (status.ok() && !expected.empty() && !md5_is.empty() && expected != md5_is)
      status = IoError("the MD5 of '", object_.key, "' is ", md5_is, " instead of ", expected);
  if (!status.ok()) {
    TERN_TRY(Restart());
    return status;
  }
  return CopiedFile{size, VersionId(object_), sha_is};
}

Status Target::Sync() {
  const int error = fsync(fd_) == 0 ? 0 : errno;
  const int closed = close(fd_) == 0 ? 0 : errno;
  fd_ = -1;
  if (!error && !closed) return {};
  unlink(path_.c_str());
  return DiskError("write", error ? error : closed);
}

}  // namespace

std::string VersionId(const ObjectInfo& object) { return Hex(Sha256(object.version)).substr(0, 32); }

Result<CopiedFile> Download(ObjectStore& store, const ObjectInfo& object, const std::string& sha256,
                            const std::string& path, const RoomFor& room, const RetryOptions& retry,
                            TransferCounters& counters, const Stop& stop) {
  Target target(object, room, counters);
  TERN_TRY(target.Create(path));
  CopiedFile copied;
  bool wrong = false;  // the last attempt arrived, but its content was wrong
  Status status = Retry(retry, stop, &counters.retries, [&]() -> Status {
    const auto sink = [&](uint64_t offset, std::string_view bytes) { return target.Add(offset, bytes); };
    // An empty range cannot be asked for: a transfer that broke off after the last byte starts over.
    const bool all = object.size_known && target.size() == object.size;
    wrong = false;
    TERN_ASSIGN(const FetchedSums fetched, store.Fetch(object, all ? 0 : target.size(), sink, stop));
    wrong = true;
    TERN_ASSIGN(copied, target.Finish(fetched, sha256));
    return {};
  });
  if (status.code() == Code::kIo && wrong) return Status(Code::kInvalidModel, status.message());
  TERN_TRY(std::move(status));
  TERN_TRY(target.Sync());
  return copied;
}

}  // namespace tern::server
