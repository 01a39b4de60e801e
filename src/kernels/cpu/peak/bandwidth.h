// Measures the memory bandwidth of this machine.
#pragma once
#include "base/thread_pool.h"
#include "core/buffer.h"

namespace tern::cpu {

// Returns the bytes per second that all threads together read from a buffer of 64 MiB, which exceeds most
// caches. Takes about 50 ms.
double ReadBandwidth(const Workers& workers);

// Measures how long it takes to read `bytes` bytes of memory.
class ReadProbe {
 public:
  ReadProbe(size_t bytes, const Workers& workers);  // writes all bytes once
  double Seconds() const;                           // reads all bytes once and returns the time

 private:
  Buffer buffer_;
  const Workers& workers_;
};

}  // namespace tern::cpu
