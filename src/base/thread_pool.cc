#include "base/thread_pool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace tern {
namespace {

constexpr int kSpins = 2000;       // of a caller that waits for the last pieces: tens of microseconds
constexpr int kMaxThreads = 1024;  // a typing error must not start a million threads

thread_local bool inside_loop = false;

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // takes about as long as pause; yield takes no time on most cores
#else
  std::this_thread::yield();
#endif
}

// How long a thread without work looks out for more before it sleeps: longer than the gap between two steps
// of a plan while gaps are short, and hardly at all when the last ones were long.
class Patience {
 public:
  template <class F> void WatchFor(const F& news) {
    start_ = Clock::now();
    do {
      for (int i = 0; i < 32; ++i) {
        if (news()) return;
        Pause();
      }
    } while (Clock::now() - start_ < time_);
  }
  // There is work again.
  void Learn() {
    time_ = Clock::now() - start_ < kMost ? std::min(kMost, time_ * 4) : std::max(kLeast, time_ / 2);
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Time = std::chrono::nanoseconds;
  static constexpr Time kLeast{10'000}, kMost{200'000};
  Time time_ = kMost;
  Clock::time_point start_;
};

// One ParallelFor. Lives on the caller's stack: it leaves the list before the caller returns, and the caller
// waits until every helper that joined has left it.
struct Job {
  void (*body)(const void*, int64_t, int64_t, int);
  const void* f;
  int64_t n, piece;
  int helpers_wanted;
  int joined = 0;  // under the pool's lock
  Job* next = nullptr;
  std::atomic<int64_t> at{0};
  std::atomic<int> active{0};

  void Work(int worker) {
    inside_loop = true;
    for (;;) {
      const int64_t begin = at.fetch_add(piece, std::memory_order_relaxed);
      if (begin >= n) break;
      body(f, begin, std::min(begin + piece, n), worker);
    }
    inside_loop = false;
  }
};

class Pool {
 public:
  // Never destroyed: threads may still wait in it when the process ends.
  static Pool& Get() {
    static Pool* pool = new Pool();
    return *pool;
  }

  void EnsureThreads(int count) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (; threads_ < count; ++threads_) std::thread([this] { Loop(); }).detach();
  }

  void Run(Job& job) {
    Publish(job);
    job.Work(0);
    Withdraw(job);
    for (int spins = 0; job.active.load(std::memory_order_acquire) != 0; ++spins) {
      if (spins < kSpins)
        Pause();
      else
        std::this_thread::yield();
    }
  }

 private:
  void Publish(Job& job) {
    int wake;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      job.next = jobs_;
      jobs_ = &job;
      wake = std::min(job.helpers_wanted, sleeping_);
      epoch_.fetch_add(1, std::memory_order_release);
    }
    for (int i = 0; i < wake; ++i) wake_.notify_one();
  }

  void Withdraw(Job& job) {
    std::lock_guard<std::mutex> lock(mutex_);
    Job** at = &jobs_;
    while (*at != &job) at = &(*at)->next;
    *at = job.next;
  }

  // Joins a job that still wants help, or sleeps until there is one.
  Job* Join(int& worker) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      for (Job* job = jobs_; job; job = job->next) {
        if (job->joined >= job->helpers_wanted || job->at.load(std::memory_order_relaxed) >= job->n) continue;
        worker = ++job->joined;
        job->active.fetch_add(1, std::memory_order_relaxed);
        return job;
      }
      ++sleeping_;
      wake_.wait(lock);
      --sleeping_;
    }
  }

  void Loop() {
    uint64_t seen = 0;
    Patience patience;
    for (;;) {
      patience.WatchFor([&] { return epoch_.load(std::memory_order_acquire) != seen; });
      seen = epoch_.load(std::memory_order_acquire);
      int worker = 0;
      Job* job = Join(worker);
      patience.Learn();
      job->Work(worker);
      job->active.fetch_sub(1, std::memory_order_release);
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<uint64_t> epoch_{0};
  Job* jobs_ = nullptr;
  int sleeping_ = 0;
  int threads_ = 0;
};

}  // namespace

int HardwareThreads() {
  static const int count = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return count;
}

Workers::Workers(int threads)
    : threads_(std::clamp(threads == 0 ? HardwareThreads() : threads, 1, kMaxThreads)) {}

bool Workers::Nested() { return inside_loop; }

void Workers::Spread(int64_t n, int64_t piece, Body body, const void* f) const {
  thread_local int ensured = 0;
  if (ensured < threads_) {
    Pool::Get().EnsureThreads(threads_ - 1);
    ensured = threads_;
  }
  const int64_t pieces = (n + piece - 1) / piece;
  const int helpers = static_cast<int>(std::min<int64_t>(threads_, pieces)) - 1;
  Job job{body, f, n, piece, helpers};
  Pool::Get().Run(job);
}

}  // namespace tern
