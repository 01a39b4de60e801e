// A memory that holds values: the host's, or a device's.
#pragma once
#include <cstddef>

#include "base/status.h"

namespace tern {

class Buffer;

// One object per memory, alive until the process exits. Thread-safe.
class MemorySpace {
 public:
  virtual ~MemorySpace() = default;
  virtual const char* name() const = 0;  // "host", "cuda:0"
  // Zeroed, 64-byte aligned. Fails with kResourceExhausted.
  virtual Result<Buffer> Allocate(size_t bytes) = 0;
  // Copies from host memory to this memory and back. Both return when the copy is complete.
  virtual Status CopyIn(void* to, const void* from_host, size_t bytes) = 0;
  virtual Status CopyOut(void* to_host, const void* from, size_t bytes) = 0;
};

// The memory that the CPU reads and writes. A null MemorySpace pointer means the same.
MemorySpace& HostMemory();

// Copies between any two memories. A copy between two devices goes through host memory.
Status CopyBytes(MemorySpace* to_space, void* to, MemorySpace* from_space, const void* from, size_t bytes);

}  // namespace tern
