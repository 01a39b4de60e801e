// Measures the memory bandwidth of this machine.
#pragma once
#include "base/thread_pool.h"
#include "core/buffer.h"

namespace tern::cpu {

// Returns the bytes per second that these threads together read from memory beyond the caches. Takes about 50
// ms and 64 MB.
double ReadBandwidth(const Workers& workers);

// Memory that is read repeatedly, to measure how long reading that many bytes takes.
class ReadProbe {
 public:
  ReadProbe(size_t bytes, const Workers& workers);  // writes all bytes once
  double Seconds() const;                           // reads all bytes once and returns the time

 private:
  Buffer buffer_;
  const Workers& workers_;
};

}  // namespace tern::cpu
