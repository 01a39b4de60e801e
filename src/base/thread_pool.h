// One pool of threads for the whole process. A session borrows a slice of it: at most so many threads at
// once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace tern {

// How many threads this machine runs at once; at least 1.
int HardwareThreads();

// A slice of the pool. Copies are cheap; any number of slices share the same threads.
class Workers {
 public:
  // 0: one thread per core. 1: everything runs on the calling thread.
  explicit Workers(int threads = 0);
  int threads() const { return threads_; }

  // Calls f(begin, end) or f(begin, end, worker) over pieces of [0, n), each at least `grain` long but the
  // last. worker is in [0, threads()): two pieces with the same worker never overlap in time, so it can pick
  // scratch memory. Returns when all pieces are done. Allocates nothing. Inside another ParallelFor it runs
  // inline, as worker 0 of its own loop. f must not throw.
  template <class F> void ParallelFor(int64_t n, int64_t grain, const F& f) const {
    if (n <= 0) return;
    const int64_t piece = PieceOf(n, grain);
    if (piece >= n || Nested()) return Call(f, 0, n, 0);
    Spread(n, piece, &Trampoline<F>, &f);
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
  // A few pieces per thread, so that a late thread does not hold up the rest.
  int64_t PieceOf(int64_t n, int64_t grain) const {
    const int64_t pieces = threads_ == 1 ? 1 : int64_t{threads_} * 4;
    return std::max(std::max<int64_t>(grain, 1), (n + pieces - 1) / pieces);
  }
  static bool Nested();
  void Spread(int64_t n, int64_t piece, Body body, const void* f) const;

  int threads_;
};

}  // namespace tern
