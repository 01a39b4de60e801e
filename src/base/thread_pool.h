// The thread pool of the process. A Workers object limits the number of threads of its loops. A thread of the
// pool joins a loop only if fewer threads are running than there are cores.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace tern {

// While an ActiveScope exists, the calling thread counts as running, even between its parallel loops, so that
// the pool leaves one core to it. Scopes may be nested.
class ActiveScope {
 public:
  ActiveScope();
  ~ActiveScope();
  ActiveScope(const ActiveScope&) = delete;
  ActiveScope& operator=(const ActiveScope&) = delete;
};

// Runs parallel loops on up to threads() threads, including the calling thread. Cheap to copy. All objects
// share the threads of the one pool.
class Workers {
 public:
  // If `threads` is 0, loops use one thread per usable core, which is also the maximum. If `threads` is 1,
  // loops run on the calling thread.
  explicit Workers(int threads = 0);
  int threads() const { return threads_; }
  // The pool calls Stay before each chunk of a loop. Stay returns false if the calling thread must not start
  // another chunk, because other threads need its core. The remaining threads then run the chunks. Always
  // returns true on the thread that started the outermost loop.
  static bool Stay();

  // Calls f(begin, end) or f(begin, end, worker) for chunks of [0, n). Each chunk begins at a multiple of
  // `grain` and has at least `grain` elements, except the last one. worker is in [0, threads()). Two chunks
  // with the same worker never run at the same time, so `worker` can index scratch memory. Returns when all
  // chunks are done. Does not allocate, except that the first loop starts the threads of the pool. A nested
  // ParallelFor calls f inline, as worker 0. f must not throw.
  template <class F> void ParallelFor(int64_t n, int64_t grain, const F& f) const {
    if (n <= 0) return;
    grain = std::max<int64_t>(grain, 1);
    if (threads_ == 1 || grain >= n || Nested()) return Call(f, 0, n, 0);
    RunParallel(n, grain, &Trampoline<F>, &f);
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
  void RunParallel(int64_t n, int64_t grain, Body body, const void* f) const;

  int threads_;
};

}  // namespace tern
