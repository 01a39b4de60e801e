#include "base/thread_pool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/pause.h"

namespace tern {
namespace {

constexpr int kSpins = 2000;       // before a thread that waits for others lets them have its core
constexpr int kMaxThreads = 1024;  // a typing error must not start a million threads
constexpr int kMostParts = 16;     // of a loop, each the first choice of one thread

thread_local bool inside_loop = false;

void Wait(int& spins) {
  if (++spins < kSpins)
    Pause();
  else
    std::this_thread::yield();
}

// Guards a few instructions, for which no thread should go to sleep.
class ShortLock {
 public:
  void lock() {
    int spins = 0;
    while (held_.exchange(true, std::memory_order_acquire))
      while (held_.load(std::memory_order_relaxed)) Wait(spins);
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

// How long a thread without work looks out for more before it sleeps: longer than the gap between two steps
// of a plan while gaps are short, and hardly at all when the last ones were long. Waking up takes as long as
// a small step does.
class Patience {
 public:
  void Begin() { start_ = Clock::now(); }
  // Whether there was news in time.
  template <class F> bool WatchFor(const F& news) const {
    for (;;) {
      for (int i = 0; i < 32; ++i) {
        if (news()) return true;
        Pause();
      }
      const Time time = Clock::now() - start_;
      if (time >= time_) return false;
      if (time >= kAlone) std::this_thread::yield();
    }
  }
  // There is work again.
  void Learn() {
    time_ = Clock::now() - start_ < kMost ? std::min(kMost, time_ * 4) : std::max(kLeast, time_ / 2);
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Time = std::chrono::nanoseconds;
  static constexpr Time kLeast{10'000}, kMost{500'000}, kAlone{50'000};
  Time time_ = kMost;
  Clock::time_point start_ = Clock::now();
};

// One ParallelFor. Lives on the caller's stack: it leaves the list before the caller returns, and the caller
// waits until every helper that joined has left it.
struct Job {
  // Each thread takes the pieces of its own part first: from loop to loop it meets the same rows again, which
  // its caches still hold.
  struct alignas(64) Part {
    std::atomic<int64_t> at{0};
    int64_t end = 0;
  };

  void (*body)(const void*, int64_t, int64_t, int);
  const void* f;
  int64_t piece;
  int helpers_wanted, parts;
  int joined = 0;  // under the pool's lock
  Job* next = nullptr;
  std::atomic<int> active{0};
  Part part[kMostParts];

  void Divide(int64_t n) {
    const int64_t pieces = (n + piece - 1) / piece;
    for (int i = 0; i < parts; ++i) {
      part[i].at.store(pieces * i / parts * piece, std::memory_order_relaxed);
      part[i].end = std::min(n, pieces * (i + 1) / parts * piece);
    }
  }
  bool Open() const {
    for (int i = 0; i < parts; ++i)
      if (part[i].at.load(std::memory_order_relaxed) < part[i].end) return true;
    return false;
  }
  void Work(int worker) {
    inside_loop = true;
    for (int i = 0; i < parts; ++i) Work(part[(worker + i) % parts], worker);
    inside_loop = false;
  }
  void Work(Part& p, int worker) {
    while (p.at.load(std::memory_order_relaxed) < p.end) {
      const int64_t begin = p.at.fetch_add(piece, std::memory_order_relaxed);
      if (begin < p.end) body(f, begin, std::min(begin + piece, p.end), worker);
    }
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
    for (int spins = 0; job.active.load(std::memory_order_acquire) != 0;) Wait(spins);
  }

 private:
  void Publish(Job& job) {
    {
      std::lock_guard<ShortLock> lock(jobs_lock_);
      job.next = jobs_;
      jobs_ = &job;
    }
    epoch_.fetch_add(1);  // before the look at sleeping_, as Sleep does it the other way round
    const int wake = std::min(job.helpers_wanted, sleeping_.load());
    if (wake == 0) return;
    { std::lock_guard<std::mutex> lock(mutex_); }  // who is about to sleep sleeps now
    for (int i = 0; i < wake; ++i) wake_.notify_one();
  }

  void Withdraw(Job& job) {
    std::lock_guard<ShortLock> lock(jobs_lock_);
    Job** at = &jobs_;
    while (*at != &job) at = &(*at)->next;
    *at = job.next;
  }

  // A job that still wants help, or null.
  Job* Join(int& worker) {
    std::lock_guard<ShortLock> lock(jobs_lock_);
    for (Job* job = jobs_; job; job = job->next) {
      if (job->joined >= job->helpers_wanted || !job->Open()) continue;
      worker = ++job->joined;
      job->active.fetch_add(1, std::memory_order_relaxed);
      return job;
    }
    return nullptr;
  }

  void Sleep(uint64_t seen) {
    std::unique_lock<std::mutex> lock(mutex_);
    sleeping_.fetch_add(1);
    wake_.wait(lock, [&] { return epoch_.load() != seen; });
    sleeping_.fetch_sub(1);
  }

  void Loop() {
    Patience patience;
    for (;;) {
      const uint64_t seen = epoch_.load(std::memory_order_acquire);
      int worker = 0;
      if (Job* job = Join(worker)) {
        patience.Learn();
        job->Work(worker);
        job->active.fetch_sub(1, std::memory_order_release);
        patience.Begin();
      } else if (!patience.WatchFor([&] { return epoch_.load(std::memory_order_acquire) != seen; })) {
        Sleep(seen);
      }
    }
  }

  ShortLock jobs_lock_;
  Job* jobs_ = nullptr;
  alignas(64) std::atomic<uint64_t> epoch_{0};
  std::atomic<int> sleeping_{0};
  alignas(64) std::mutex mutex_;
  std::condition_variable wake_;
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
  Job job{body, f, piece, helpers, std::min(helpers + 1, kMostParts)};
  job.Divide(n);
  Pool::Get().Run(job);
}

}  // namespace tern
