// Memory of the host or of a device, in which values are stored.
#pragma once
#include <cstddef>

#include "base/status.h"

namespace tern {

class Buffer;

// There is one object per memory, and it exists until the process exits. Thread-safe.
class MemorySpace {
 public:
  virtual ~MemorySpace() = default;
  virtual const char* name() const = 0;  // "host", "cuda:0"
  // Allocates zeroed, 64-byte aligned memory. If there is not enough, a device returns kResourceExhausted,
  // and host memory throws std::bad_alloc.
  virtual Result<Buffer> Allocate(size_t bytes) = 0;
  // CopyIn copies from host memory to this memory; CopyOut copies from this memory to host memory. They
  // return when the copy is complete.
  virtual Status CopyIn(void* to, const void* from_host, size_t bytes) = 0;
  virtual Status CopyOut(void* to_host, const void* from, size_t bytes) = 0;
};

// The memory that the CPU reads and writes. A null MemorySpace pointer also means host memory.
MemorySpace& HostMemory();

// Copies between any two memories. A copy between two devices goes through host memory.
Status CopyBytes(MemorySpace* to_space, void* to, MemorySpace* from_space, const void* from, size_t bytes);

}  // namespace tern
