// One pool of threads for the whole process. A session borrows a slice of it: at most so many threads at
// once. Threads of the pool come to help only while fewer threads are at work than there are cores.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace tern {

// While one of these lives the calling thread is at work, between its loops too: it takes a core that the
// pool then leaves alone. They nest.
class ActiveScope {
 public:
  ActiveScope();
  ~ActiveScope();
  ActiveScope(const ActiveScope&) = delete;
  ActiveScope& operator=(const ActiveScope&) = delete;
};

// A slice of the pool. Copies are cheap; any number of slices share the same threads.
class Workers {
 public:
  // 0: one thread per usable core, which is also the most. 1: everything runs on the calling thread.
  explicit Workers(int threads = 0);
  int threads() const { return threads_; }
  // Inside a loop: false from when on the calling thread has to leave it because others need its core. Always
  // true on the thread that started the loop.
  static bool Stay();

  // Calls f(begin, end) or f(begin, end, worker) over pieces of [0, n), which begin at multiples of `grain`;
  // so each is at least that long, but the last. worker is in [0, threads()): two pieces with the same worker
  // never overlap in time, so it can pick scratch memory. Returns when all pieces are done. Allocates
  // nothing. Inside another ParallelFor it runs inline, as worker 0 of its own loop. f must not throw.
  template <class F> void ParallelFor(int64_t n, int64_t grain, const F& f) const {
    if (n <= 0) return;
    grain = std::max<int64_t>(grain, 1);
    if (threads_ == 1 || grain >= n || Nested()) return Call(f, 0, n, 0);
    Spread(n, grain, &Trampoline<F>, &f);
  }

 private:
  using Body = void (*)(const void* f, int64_t begin, int64_t end, int worker);

  template <class F> static void Call(const F& f, int64_t begin, int64_t end, int worker) {
    if constexpr (std::is_invocable_v<const F&, int64_t, int64_t, int>)
      f(begin, end, worker);
    else
      f(begin, end);
  }
  template <class F> static void Trampoline(const void* f, int64_t begin, int64_t end, int worker) {
    Call(*static_cast<const F*>(f), begin, end, worker);
  }
  static bool Nested();
  void Spread(int64_t n, int64_t grain, Body body, const void* f) const;

  int threads_;
};

}  // namespace tern
