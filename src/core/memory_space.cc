#include "core/memory_space.h"

#include <cstring>
#include <vector>

#include "core/buffer.h"

namespace tern {
namespace {

class Host : public MemorySpace {
 public:
  const char* name() const override { return "host"; }
  Result<Buffer> Allocate(size_t bytes) override { return Buffer::Allocate(bytes); }
  Status CopyIn(void* to, const void* from_host, size_t bytes) override { return Copy(to, from_host, bytes); }
  Status CopyOut(void* to_host, const void* from, size_t bytes) override {
    return Copy(to_host, from, bytes);
  }

 private:
  static Status Copy(void* to, const void* from, size_t bytes) {
    if (bytes) std::memcpy(to, from, bytes);
    return {};
  }
};

bool IsHost(const MemorySpace* space) { return !space || space == &HostMemory(); }

}  // namespace

MemorySpace& HostMemory() {
  static Host* host = new Host();
  return *host;
}

Status CopyBytes(MemorySpace* to_space, void* to, MemorySpace* from_space, const void* from, size_t bytes) {
  if (bytes == 0) return {};
  if (IsHost(from_space))
    return IsHost(to_space) ? HostMemory().CopyIn(to, from, bytes) : to_space->CopyIn(to, from, bytes);
  if (IsHost(to_space)) return from_space->CopyOut(to, from, bytes);
  std::vector<std::byte> staging(bytes);
  TERN_TRY(from_space->CopyOut(staging.data(), from, bytes));
  return to_space->CopyIn(to, staging.data(), bytes);
}

}  // namespace tern
