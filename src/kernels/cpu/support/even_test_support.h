// A simulation of a parallel loop, for tests that check how evenly work is split.
#pragma once
#include <algorithm>
#include <vector>

namespace tern::cpu {

// Returns the time that the threads wait for the last one, as a share of the time that even parts would take.
// `jobs` are the times of the jobs. A thread runs the jobs of its part one by one, then jobs of other
// threads, as in Workers::ParallelFor. If `uneven`, every fourth thread is half as fast as the others, as on
// a core that another program uses as well.
inline double WaitOfThreads(const std::vector<double>& jobs, int threads, bool uneven) {
  struct Thread {
    size_t at, end;
    double time = 0, speed = 1;
  };
  std::vector<Thread> all;
  double work = 0, speeds = 0;
  for (const double job : jobs) work += job;
  for (int i = 0; i < threads; ++i) {
    const auto n = static_cast<size_t>(threads), t = static_cast<size_t>(i);
    all.push_back({jobs.size() * t / n, jobs.size() * (t + 1) / n});
    if (uneven && i % 4 == 3) all.back().speed = 0.5;
    speeds += all.back().speed;
  }
  for (size_t left = jobs.size(); left > 0; --left) {
    Thread* first =
        &*std::min_element(all.begin(), all.end(), [](auto& a, auto& b) { return a.time < b.time; });
    Thread* part = first;  // the thread whose job it runs
    while (part->at == part->end) part = part == &all.back() ? all.data() : part + 1;
    first->time += jobs[part->at++] / first->speed;
  }
  double last = 0;
  for (const Thread& t : all) last = std::max(last, t.time);
  return last * speeds / work - 1;
}

}  // namespace tern::cpu
