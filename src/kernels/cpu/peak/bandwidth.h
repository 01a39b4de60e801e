// How fast this machine reads memory, measured.
#pragma once
#include "base/thread_pool.h"

namespace tern::cpu {

// Bytes per second that these threads together read from memory that is in no cache. Takes some 50 ms and 64
// MB.
double ReadBandwidth(const Workers& workers);

}  // namespace tern::cpu
