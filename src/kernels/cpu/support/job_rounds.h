// How many jobs a parallel loop should have, how long it takes, and the memory that it needs.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tern::cpu {

// Returns the maximum number of jobs into which a loop should be split.
inline int64_t MaxJobs(int threads) { return int64_t{threads} * (threads <= 2 ? 4 : 16); }

// Estimates the time of `jobs` equal jobs on this many threads, in times of one job. Larger machines have
// threads of different speeds, because some share a core with another thread or another virtual machine. The
// last jobs then end at different times, and on average half a job passes until the last thread is done.
inline double JobRounds(int64_t jobs, int threads) {
  const auto rounds = static_cast<double>((jobs + threads - 1) / threads);
  if (threads <= 2) return rounds * (jobs < 2 * threads ? 1.04 : 1);
  return (rounds + static_cast<double>(jobs) / threads + 1) / 2;
}

// Returns the largest scratch_of(n) for n from 1 to `threads`. A session may run with fewer threads than it
// was planned for, and their jobs may be larger.
template <class F> size_t MostScratch(int threads, const F& scratch_of) {
  size_t most = 0;
  for (int n = 1; n <= threads; ++n) most = std::max(most, scratch_of(n));
  return most;
}

}  // namespace tern::cpu
