// A memory that values live in: the host's, or that of a device.
#pragma once
#include <cstddef>

#include "base/status.h"

namespace tern {

class Buffer;

// One per memory, for as long as the process lives. Thread-safe.
class MemorySpace {
 public:
  virtual ~MemorySpace() = default;
  virtual const char* name() const = 0;  // "host", "cuda:0"
  // Zeroed, 64-byte aligned. Fails with kResourceExhausted.
  virtual Result<Buffer> Allocate(size_t bytes) = 0;
  // From the host's memory to this one and back. They return when the bytes are there.
  virtual Status CopyIn(void* to, const void* from_host, size_t bytes) = 0;
  virtual Status CopyOut(void* to_host, const void* from, size_t bytes) = 0;
};

// The memory that the CPU reads and writes. Null pointers to a MemorySpace stand for it too.
MemorySpace& HostMemory();

// Copies between any two memories, by way of the host where neither is the host's.
Status CopyBytes(MemorySpace* to_space, void* to, MemorySpace* from_space, const void* from, size_t bytes);

}  // namespace tern
