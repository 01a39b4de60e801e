// Work in steps that follow each other too fast for a loop each: the threads stay in it from the first step
// to the last.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace tern {

constexpr int kMostStepPieces = 64;

namespace internal {
void RunSteps(const Workers& workers, int64_t steps, int pieces, void (*body)(const void*, int64_t, int),
              const void* f);
}

// Calls f(step, piece) for every piece in [0, pieces) of every step in [0, steps). A step starts when the one
// before it is finished, and sees what that has written. A piece runs on the same thread in most steps, so
// that it finds its data in that thread's caches. Threads that never come, leave, or lose their core, hold
// up nothing: the others take over their pieces. pieces: at most kMostStepPieces. f must not throw.
template <class F> void ParallelSteps(const Workers& workers, int64_t steps, int pieces, const F& f) {
  internal::RunSteps(
      workers, steps, pieces,
      [](const void* body, int64_t step, int piece) { (*static_cast<const F*>(body))(step, piece); }, &f);
}

}  // namespace tern
