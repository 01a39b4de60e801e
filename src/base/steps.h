// Runs short dependent steps in one parallel loop. Threads stay in the loop from the first step to the last.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace tern {

constexpr int kMaxStepChunks = 64;

namespace internal {
void RunSteps(const Workers& workers, int64_t steps, int chunks, void (*body)(const void*, int64_t, int),
              const void* f);
}

// Calls f(step, chunk) for every chunk in [0, chunks) of every step in [0, steps). A step starts when all
// chunks of the previous step are finished, and it sees what they have written. A chunk runs on the same
// thread in most steps, so its data stays in that thread's cache. If a thread never joins, leaves early or is
// descheduled, other threads run its chunks. chunks is at most kMaxStepChunks. f must not throw.
template <class F> void ParallelSteps(const Workers& workers, int64_t steps, int chunks, const F& f) {
  internal::RunSteps(
      workers, steps, chunks,
      [](const void* body, int64_t step, int chunk) { (*static_cast<const F*>(body))(step, chunk); }, &f);
}

}  // namespace tern
