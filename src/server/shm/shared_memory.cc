#include "server/shm/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

namespace tern::server {
namespace {

constexpr size_t kMaxKey = 255, kMaxName = 1024;
constexpr size_t kMaxRegions = 4096;
constexpr std::string_view kReserved = "triton_python_backend_shm_region_";

// The number of open objects. Each has a descriptor, which the server also needs for connections and files.
using OpenCount = std::shared_ptr<std::atomic<size_t>>;

// Returns how many objects may be open: a quarter of the descriptors that the process may have.
size_t MaxObjects() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  return static_cast<size_t>(std::min<rlim_t>(limit.rlim_cur / 4, kMaxRegions));
}

// An open shared memory object. Regions and ranges of the same object share it.
class Object {
 public:
  Object(int fd, OpenCount count) : fd_(fd), count_(std::move(count)) { ++*count_; }
  ~Object() {
    close(fd_);
    --*count_;
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  int fd() const { return fd_; }
  bool Same(const struct stat& other) const {
    struct stat info {};
    return fstat(fd_, &info) == 0 && info.st_dev == other.st_dev && info.st_ino == other.st_ino;
  }

 private:
  const int fd_;
  const OpenCount count_;
};

class Range : public SharedMemoryRange {
 public:
  Range(std::string region, std::shared_ptr<const Object> object, uint64_t offset, uint64_t bytes)
      : region_(std::move(region)), object_(std::move(object)), offset_(offset), bytes_(bytes) {}
  uint64_t size() const override { return bytes_; }

  Status Read(void* to) const override {
    char* const target = static_cast<char*>(to);
    return Copy(bytes_, [&](uint64_t done, size_t step, off_t offset) {
      return pread(object_->fd(), target + done, step, offset);
    });
  }

  // Checks the size first, because pwrite would enlarge an object that has become too small.
  Status Write(const void* from, uint64_t bytes) const override {
    struct stat info {};
    if (fstat(object_->fd(), &info) != 0 || static_cast<uint64_t>(info.st_size) < offset_ + bytes)
      return Shrunk();
    const char* const source = static_cast<const char*>(from);
    return Copy(bytes, [&](uint64_t done, size_t step, off_t offset) {
      return pwrite(object_->fd(), source + done, step, offset);
    });
  }

 private:
  Status Shrunk() const {
    return InvalidArgument("shared memory region '", region_,
                           "' can no longer be used: its memory object has become smaller");
  }

  template <class F> Status Copy(uint64_t bytes, F&& step) const {
    constexpr uint64_t kMaxStep = uint64_t{1} << 30;
    for (uint64_t done = 0; done < bytes;) {
      const ssize_t copied = step(done, static_cast<size_t>(std::min(bytes - done, kMaxStep)),
                                  static_cast<off_t>(offset_ + done));
      if (copied < 0 && errno == EINTR) continue;
      if (copied < 0)
        return IoError("shared memory region '", region_, "' cannot be used: ", std::strerror(errno));
      if (copied == 0) return Shrunk();
      done += static_cast<uint64_t>(copied);
    }
    return {};
  }

  const std::string region_;
  const std::shared_ptr<const Object> object_;
  const uint64_t offset_, bytes_;  // offset_ counts from the start of the object
};

// A key must have the form "/name", because another key could name other files below /dev/shm.
Status CheckKey(const std::string& name, const std::string& key) {
  const bool valid = key.size() > 1 && key.size() <= kMaxKey && key[0] == '/' &&
                     key.find('/', 1) == std::string::npos && key.find('\0') == std::string::npos &&
                     key != "/." && key != "/..";
  const size_t first = std::min(key.find_first_not_of('/'), key.size());
  if (StartsWith(std::string_view(key).substr(first), kReserved))
    return InvalidArgument("cannot register shared memory region '", name, "' with key '", key,
                           "' as the key contains the reserved prefix '", kReserved, "'");
  if (valid) return {};
  return InvalidArgument("cannot register shared memory region '", name, "' - invalid shm key '", key,
                         "': it must begin with '/' and contain no other '/'");
}

Status CheckSize(const std::string& name, const struct stat& info, uint64_t offset, uint64_t bytes) {
  const auto size = static_cast<uint64_t>(info.st_size);
  if (offset > size || bytes > size - offset)
    return InvalidArgument("failed to register shared memory region '", name,
                           "': invalid args: Invalid offset + byte size for shared memory region: '", name,
                           "'");
  return {};
}

class SystemSharedMemory : public SharedMemoryControl {
 public:
  Status Register(const std::string& name, const std::string& key, uint64_t offset, uint64_t bytes) override {
    TERN_TRY(CheckKey(name, key));
    if (name.empty()) return InvalidArgument("a shared memory region needs a name");
    if (name.size() > kMaxName)
      return InvalidArgument("the name of a shared memory region has more than ", kMaxName, " bytes");
    const std::lock_guard<std::mutex> lock(mutex_);
    if (regions_.count(name))
      return Status(Code::kAlreadyExists, StrCat("shared memory region '", name, "' already in manager"));
    if (regions_.size() >= kMaxRegions)
      return ResourceExhausted("failed to register shared memory region '", name, "': ", kMaxRegions,
                               " regions are registered already");
    const int fd = shm_open(key.c_str(), O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) return IoError("Unable to open shared memory region: '", key, "'");
    auto object = std::make_shared<const Object>(fd, open_);
    struct stat info {};
    if (fstat(fd, &info) != 0) return IoError("Unable to get size of shared memory region '", name, "'");
    TERN_TRY(CheckSize(name, info, offset, bytes));
    if (bytes == 0) return InvalidArgument("shared memory region '", name, "' has byte_size 0");
    // Regions of one object share one descriptor, because the number of descriptors of a process is limited.
    const auto same = std::find_if(regions_.begin(), regions_.end(), [&](const auto& entry) {
      return entry.second.info.key == key && entry.second.object->Same(info);
    });
    if (same != regions_.end()) object = same->second.object;
    // The new object counts, and so do objects of removed regions that requests still use.
    else if (const size_t most = MaxObjects(); *open_ > most)
      return ResourceExhausted("failed to register shared memory region '", name, "': ", most,
                               " shared memory objects are open already; unregister regions, or raise the ",
                               "server's limit on open files (ulimit -n)");
    regions_[name] = {{name, key, offset, bytes}, std::move(object)};
    return {};
  }

  Status Unregister(const std::string& name) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (name.empty())
      regions_.clear();
    else
      // An unknown name is not an error, because clients clean up regions that may not exist.
      regions_.erase(name);
    return {};
  }

  Result<std::vector<SharedMemoryRegion>> List(const std::string& name) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<SharedMemoryRegion> out;
    for (const auto& [key, region] : regions_)
      if (name.empty() || key == name) out.push_back(region.info);
    if (!name.empty() && out.empty()) return Missing(name);
    return out;
  }

  Result<std::shared_ptr<const SharedMemoryRange>> Find(const std::string& name, uint64_t offset,
                                                        uint64_t bytes) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = regions_.find(name);
    if (it == regions_.end()) return NotFound("Unable to find shared memory region: '", name, "'");
    const SharedMemoryRegion& region = it->second.info;
    if (offset >= region.bytes)
      return InvalidArgument("Invalid offset for shared memory region: '", name, "'");
    if (bytes > UINT64_MAX - offset)
      return InvalidArgument("Integer overflow detected: byte_size (", bytes, ") + offset (", offset,
                             ") exceeds maximum value (", UINT64_MAX, ") for region '", name, "'");
    if (bytes > region.bytes - offset)
      return InvalidArgument("Invalid offset + byte size for shared memory region: '", name, "'");
    return std::shared_ptr<const SharedMemoryRange>(
        std::make_shared<Range>(name, it->second.object, region.offset + offset, bytes));
  }

 private:
  static Status Missing(const std::string& name) {
    return NotFound("Unable to find system shared memory region: '", name, "'");
  }

  struct Region {
    SharedMemoryRegion info;
    std::shared_ptr<const Object> object;
  };
  const OpenCount open_ = std::make_shared<std::atomic<size_t>>(0);
  std::mutex mutex_;
  std::map<std::string, Region> regions_;
};

}  // namespace

std::unique_ptr<SharedMemoryControl> MakeSharedMemory() { return std::make_unique<SystemSharedMemory>(); }

}  // namespace tern::server
