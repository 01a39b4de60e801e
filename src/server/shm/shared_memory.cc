#include "server/shm/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace tern::server {
namespace {

constexpr size_t kMaxKey = 255, kMaxName = 1024;
constexpr size_t kMaxRegions = 4096;  // the system limits the mappings of a process, also those of malloc
constexpr std::string_view kReserved = "triton_python_backend_shm_region_";

// Memory that stays mapped until the last buffer of it is destroyed. If a client shrinks the object
// meanwhile, the next access raises SIGBUS. A server can only check the size at registration.
class Mapping {
 public:
  Mapping(void* base, size_t bytes) : base_(base), bytes_(bytes) {}
  ~Mapping() { munmap(base_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

 private:
  void* base_;
  size_t bytes_;
};

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
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

Status CheckSize(const std::string& name, int fd, uint64_t offset, uint64_t bytes) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return IoError("Unable to get size of shared memory region '", name, "'");
  const auto size = static_cast<uint64_t>(info.st_size);
  if (offset > size || bytes > size - offset)
    return InvalidArgument("failed to register shared memory region '", name,
                           "': invalid args: Invalid offset + byte size for shared memory region: '", name,
                           "'");
  return {};
}

// Maps the whole pages that contain the range, and returns the range.
Result<Buffer> Map(const std::string& name, int fd, uint64_t offset, uint64_t bytes) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t skipped = offset % page;
  const size_t length = static_cast<size_t>(bytes + skipped);
  void* base =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset - skipped));
  if (base == MAP_FAILED)
    return ResourceExhausted("failed to register shared memory region '", name, "': it cannot be mapped");
  return Buffer::Borrow(static_cast<std::byte*>(base) + skipped, static_cast<size_t>(bytes),
                        std::make_shared<Mapping>(base, length));
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
    const Descriptor object{shm_open(key.c_str(), O_RDWR | O_CLOEXEC, 0)};
    if (object.fd < 0) return IoError("Unable to open shared memory region: '", key, "'");
    TERN_TRY(CheckSize(name, object.fd, offset, bytes));
    if (bytes == 0) return InvalidArgument("shared memory region '", name, "' has byte_size 0");
    TERN_ASSIGN(Buffer memory, Map(name, object.fd, offset, bytes));
    regions_[name] = {{name, key, offset, bytes}, std::move(memory)};
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

  Result<Buffer> Find(const std::string& name, uint64_t offset, uint64_t bytes) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = regions_.find(name);
    if (it == regions_.end()) return NotFound("Unable to find shared memory region: '", name, "'");
    const uint64_t size = it->second.memory.size();
    if (offset >= size) return InvalidArgument("Invalid offset for shared memory region: '", name, "'");
    if (bytes > UINT64_MAX - offset)
      return InvalidArgument("Integer overflow detected: byte_size (", bytes, ") + offset (", offset,
                             ") exceeds maximum value (", UINT64_MAX, ") for region '", name, "'");
    if (bytes > size - offset)
      return InvalidArgument("Invalid offset + byte size for shared memory region: '", name, "'");
    return it->second.memory.Slice(static_cast<size_t>(offset), static_cast<size_t>(bytes));
  }

 private:
  static Status Missing(const std::string& name) {
    return NotFound("Unable to find system shared memory region: '", name, "'");
  }

  struct Region {
    SharedMemoryRegion info;
    Buffer memory;
  };
  std::mutex mutex_;
  std::map<std::string, Region> regions_;
};

}  // namespace

std::unique_ptr<SharedMemoryControl> MakeSharedMemory() { return std::make_unique<SystemSharedMemory>(); }

}  // namespace tern::server
