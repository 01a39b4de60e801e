#include "base/steps.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/pause.h"

namespace tern::internal {
namespace {

constexpr int kPatience = 400;  // pauses until the piece of a thread that is late is taken over
constexpr int kSpins = 4000;    // pauses until a thread lets others have its core

class StepLoop {
 public:
  StepLoop(int64_t steps, int pieces, int members, void (*body)(const void*, int64_t, int), const void* f)
      : steps_(steps), pieces_(pieces), members_(members), body_(body), f_(f) {}

  void Join(int member) {
    // Also a thread that has to leave the loop around these steps finishes steps of its own.
    const bool mine = std::this_thread::get_id() == owner_;
    present_[member].store(true, std::memory_order_relaxed);
    for (int64_t step = done_.load(std::memory_order_acquire) / pieces_; step < steps_; ++step) {
      if (!mine && !Workers::Stay()) return present_[member].store(false, std::memory_order_relaxed);
      for (int piece = 0; piece < pieces_; ++piece)
        if (OwnerOf(piece) == member) Take(step, piece);
      for (int piece = 0; piece < pieces_; ++piece)
        if (!present_[OwnerOf(piece)].load(std::memory_order_relaxed)) Take(step, piece);
      Await(step);
    }
  }

 private:
  int OwnerOf(int piece) const { return piece * members_ / pieces_; }

  // Unless somebody has taken it. All steps before this one are finished, as the caller has seen.
  void Take(int64_t step, int piece) {
    std::atomic<int64_t>& next = slots_[piece].next;
    int64_t mine = step;
    if (next.load(std::memory_order_relaxed) != step ||
        !next.compare_exchange_strong(mine, step + 1, std::memory_order_relaxed))
      return;
    body_(f_, step, piece);
    done_.fetch_add(1, std::memory_order_acq_rel);
  }

  void Await(int64_t step) {
    const int64_t finished = (step + 1) * pieces_;
    for (int spins = 0; done_.load(std::memory_order_acquire) < finished; ++spins) {
      if (spins == kPatience)
        for (int piece = 0; piece < pieces_; ++piece) Take(step, piece);
      if (spins < kSpins)
        Pause();
      else
        std::this_thread::yield();
    }
  }

  struct alignas(64) Slot {
    std::atomic<int64_t> next{0};  // the step in which nobody has taken the piece yet
  };

  const std::thread::id owner_ = std::this_thread::get_id();
  const int64_t steps_;
  const int pieces_, members_;
  void (*const body_)(const void*, int64_t, int);
  const void* const f_;
  alignas(64) std::atomic<int64_t> done_{0};  // pieces of all steps
  std::atomic<bool> present_[kMostStepPieces] = {};
  Slot slots_[kMostStepPieces];
};

}  // namespace

void RunSteps(const Workers& workers, int64_t steps, int pieces, void (*body)(const void*, int64_t, int),
              const void* f) {
  if (steps <= 0 || pieces <= 0) return;
  const int members = std::min(workers.threads(), pieces);
  StepLoop loop(steps, pieces, members, body, f);
  workers.ParallelFor(members, 1, [&](int64_t begin, int64_t end) {
    for (int64_t member = begin; member < end; ++member) loop.Join(static_cast<int>(member));
  });
}

}  // namespace tern::internal
