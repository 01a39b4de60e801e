// Measures the memory bandwidth of this machine.
#pragma once
#include "base/thread_pool.h"
#include "core/buffer.h"

namespace tern::cpu {

// Bytes per second that these threads together read from memory beyond the caches. Takes about 50 ms and 64
// MB.
double ReadBandwidth(const Workers& workers);

// Memory that is read over and over, to see how long as many bytes take.
class ReadProbe {
 public:
  ReadProbe(size_t bytes, const Workers& workers);  // writes all of it once
  double Seconds() const;                           // that one pass over it takes

 private:
  Buffer buffer_;
  const Workers& workers_;
};

}  // namespace tern::cpu
