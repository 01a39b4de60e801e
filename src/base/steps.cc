#include "base/steps.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/pause.h"

namespace tern::internal {
namespace {

constexpr int kTakeOverSpins =
    400;  // number of Pause() calls before a waiting thread runs chunks of other threads
constexpr int kIdleSpins = 4000;  // number of Pause() calls before a waiting thread yields its core

class StepLoop {
 public:
  StepLoop(int64_t steps, int chunks, int members, void (*body)(const void*, int64_t, int), const void* f)
      : steps_(steps), chunks_(chunks), members_(members), body_(body), f_(f) {}

  void Join(int member) {
    // The thread that called RunSteps finishes all steps, even if it is a helper that must leave an enclosing
    // loop.
    const bool is_owner = std::this_thread::get_id() == owner_;
    present_[member].store(true, std::memory_order_relaxed);
    for (int64_t step = done_.load(std::memory_order_acquire) / chunks_; step < steps_; ++step) {
      if (!is_owner && !Workers::Stay()) return present_[member].store(false, std::memory_order_relaxed);
      for (int chunk = 0; chunk < chunks_; ++chunk)
        if (OwnerOf(chunk) == member) Take(step, chunk);
      for (int chunk = 0; chunk < chunks_; ++chunk)
        if (!present_[OwnerOf(chunk)].load(std::memory_order_relaxed)) Take(step, chunk);
      Await(step);
    }
  }

 private:
  int OwnerOf(int chunk) const { return chunk * members_ / chunks_; }

  // Runs the chunk of this step unless another thread has claimed it. All earlier steps must be finished.
  void Take(int64_t step, int chunk) {
    std::atomic<int64_t>& next = slots_[chunk].next;
    int64_t expected = step;
    if (next.load(std::memory_order_relaxed) != step ||
        !next.compare_exchange_strong(expected, step + 1, std::memory_order_relaxed))
      return;
    body_(f_, step, chunk);
    done_.fetch_add(1, std::memory_order_acq_rel);
  }

  void Await(int64_t step) {
    const int64_t finished = (step + 1) * chunks_;
    for (int spins = 0; done_.load(std::memory_order_acquire) < finished; ++spins) {
      if (spins == kTakeOverSpins)
        for (int chunk = 0; chunk < chunks_; ++chunk) Take(step, chunk);
      if (spins < kIdleSpins)
        Pause();
      else
        std::this_thread::yield();
    }
  }

  struct alignas(64) Slot {
    std::atomic<int64_t> next{0};  // the first step in which no thread has claimed the chunk
  };

  const std::thread::id owner_ = std::this_thread::get_id();
  const int64_t steps_;
  const int chunks_, members_;
  void (*const body_)(const void*, int64_t, int);
  const void* const f_;
  alignas(64) std::atomic<int64_t> done_{0};  // number of finished chunks, summed over all steps
  std::atomic<bool> present_[kMaxStepChunks] = {};
  Slot slots_[kMaxStepChunks];
};

}  // namespace

void RunSteps(const Workers& workers, int64_t steps, int chunks, void (*body)(const void*, int64_t, int),
              const void* f) {
  if (steps <= 0 || chunks <= 0) return;
  const int members = std::min(workers.threads(), chunks);
  StepLoop loop(steps, chunks, members, body, f);
  workers.ParallelFor(members, 1, [&](int64_t begin, int64_t end) {
    for (int64_t member = begin; member < end; ++member) loop.Join(static_cast<int>(member));
  });
}

}  // namespace tern::internal
