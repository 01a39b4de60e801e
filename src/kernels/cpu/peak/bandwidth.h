// Measures the memory bandwidth of this machine.
#pragma once
#include "base/thread_pool.h"

namespace tern::cpu {

// Bytes per second that these threads together read from memory beyond the caches. Takes about 50 ms and 64
// MB.
double ReadBandwidth(const Workers& workers);

}  // namespace tern::cpu
