#include "base/thread_pool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "base/cores.h"
#include "base/idle_scope.h"
#include "base/pause.h"

namespace tern {
namespace {

constexpr int kSpins = 2000;    // before a thread that waits for others lets them have its core
constexpr int kMostParts = 16;  // of a loop, each the first choice of one thread

// In the loop of another thread: helps, until it has to leave.
enum class Role { kOwn, kHelps, kLeft };

struct ThisThread {
  int active_scope = 0;  // how often
  bool inside_loop = false;
  Role role = Role::kOwn;
};
thread_local ThisThread self;

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

// Who is at work: callers, threads that run models or loops of their own, unasked, and helpers, as many as
// the cores then allow. Only counts, which publish no data: any order of memory will do.
class Crew {
 public:
  void Enter() { count_.fetch_add(1, std::memory_order_relaxed); }
  void Leave() { count_.fetch_sub(1, std::memory_order_relaxed); }
  bool HelperEnters() {
    uint64_t count = Load();
    while (Total(count) < cores_)
      if (count_.compare_exchange_weak(count, count + kHelper, std::memory_order_relaxed)) return true;
    return false;
  }
  void HelperLeaves() { count_.fetch_sub(kHelper, std::memory_order_relaxed); }
  // Where there are too many: as many leave as must.
  bool HelperMustLeave() {
    uint64_t count = Load();
    while (Total(count) > cores_)
      if (count_.compare_exchange_weak(count, count - kHelper, std::memory_order_relaxed)) return true;
    return false;
  }
  bool Full() const { return Total(Load()) >= cores_; }
  // Of so many helpers that are awake: how many more a loop that wants some has use for.
  int Lacks(int wanted, int awake) const {
    const uint64_t count = Load();
    const int idle = std::max(0, awake - static_cast<int>(count >> 32));
    return std::min(wanted, cores_ - Total(count)) - idle;
  }

 private:
  static constexpr uint64_t kHelper = (uint64_t{1} << 32) + 1;  // one of the helpers, and one at work
  static int Total(uint64_t count) { return static_cast<int>(static_cast<uint32_t>(count)); }
  uint64_t Load() const { return count_.load(std::memory_order_relaxed); }

  const int cores_ = UsableCores();
  alignas(64) std::atomic<uint64_t> count_{0};
};

// Never destroyed, like the pool, whose threads may still look at it when the process ends.
Crew& TheCrew() {
  static Crew* crew = new Crew();
  return *crew;
}

// How long a thread without work looks out for more before it sleeps: longer than the gap between two steps
// of a plan while gaps are short, and hardly at all when the last ones were long. Waking up takes as long as
// a small step does.
class Patience {
 public:
  void Begin() { start_ = Clock::now(); }
  // Whether there was news in time, and while a core was free to look.
  template <class F> bool WatchFor(const F& news, const Crew& crew) const {
    for (;;) {
      for (int i = 0; i < 32; ++i) {
        if (news()) return true;
        Pause();
      }
      const Time time = Clock::now() - start_;
      if (time >= time_ || crew.Full()) return false;
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

// Rounded up.
int64_t CeilDiv(int64_t n, int64_t size) { return (n + size - 1) / size; }

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

  // Parts are even: they need not be whole pieces.
  void Divide(int64_t n, int64_t grain) {
    const int64_t grains = CeilDiv(n, grain);
    for (int i = 0; i < parts; ++i) {
      part[i].at.store(grains * i / parts * grain, std::memory_order_relaxed);
      part[i].end = std::min(n, grains * (i + 1) / parts * grain);
    }
  }
  bool Open() const {
    for (int i = 0; i < parts; ++i)
      if (part[i].at.load(std::memory_order_relaxed) < part[i].end) return true;
    return false;
  }
  void Work(int worker) {
    self.inside_loop = true;
    for (int i = 0; i < parts; ++i) Work(part[(worker + i) % parts], worker);
    self.inside_loop = false;
  }
  // Worker 0 is the caller, who stays to the end.
  void Work(Part& p, int worker) {
    while (p.at.load(std::memory_order_relaxed) < p.end && (worker == 0 || Workers::Stay())) {
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

  // As many as the system grants: loops need none.
  void EnsureThreads(int count) {
    std::lock_guard<std::mutex> lock(mutex_);
    try {
      for (; threads_ < count; ++threads_) std::thread([this] { Loop(); }).detach();
    } catch (const std::exception&) {
    }
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
    const int sleeping = sleeping_.load();
    if (sleeping == 0) return;
    const int wake = std::min(crew_.Lacks(job.helpers_wanted, threads_.load() - sleeping), sleeping);
    if (wake <= 0) return;
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
      if (!crew_.HelperEnters()) return nullptr;
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

  void Help(Job& job, int worker) {
    self.role = Role::kHelps;
    job.Work(worker);
    job.active.fetch_sub(1, std::memory_order_release);  // the caller may end the job now
    if (self.role == Role::kHelps) crew_.HelperLeaves();
    self.role = Role::kOwn;
  }

  void Loop() {
    self.active_scope = 1;  // counted while it helps
    Patience patience;
    for (;;) {
      const uint64_t seen = epoch_.load(std::memory_order_acquire);
      int worker = 0;
      if (Job* job = Join(worker)) {
        patience.Learn();
        Help(*job, worker);
        patience.Begin();
      } else if (!patience.WatchFor([&] { return epoch_.load(std::memory_order_acquire) != seen; }, crew_)) {
        Sleep(seen);
      }
    }
  }

  Crew& crew_ = TheCrew();
  ShortLock jobs_lock_;
  Job* jobs_ = nullptr;
  alignas(64) std::atomic<uint64_t> epoch_{0};
  std::atomic<int> sleeping_{0};
  alignas(64) std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<int> threads_{0};  // written under mutex_
};

}  // namespace

ActiveScope::ActiveScope() {
  if (self.active_scope++ == 0) TheCrew().Enter();
}
ActiveScope::~ActiveScope() {
  if (--self.active_scope == 0) TheCrew().Leave();
}

IdleScope::IdleScope() : at_work_(self.inside_loop ? 0 : self.active_scope) {
  if (at_work_ == 0) return;
  self.active_scope = 0;
  TheCrew().Leave();
}
IdleScope::~IdleScope() {
  if (at_work_ == 0) return;
  self.active_scope = at_work_;
  TheCrew().Enter();
}

Workers::Workers(int threads)
    : threads_(threads == 0 ? UsableCores() : std::clamp(threads, 1, UsableCores())) {}

bool Workers::Nested() { return self.inside_loop; }

bool Workers::Stay() {
  if (self.role == Role::kHelps && TheCrew().HelperMustLeave()) self.role = Role::kLeft;
  return self.role != Role::kLeft;
}

void Workers::Spread(int64_t n, int64_t grain, Body body, const void* f) const {
  const ActiveScope active_scope;
  thread_local int ensured = 0;
  if (ensured < threads_) {
    Pool::Get().EnsureThreads(threads_ - 1);
    ensured = threads_;
  }
  // A few pieces per thread, so that a late thread does not hold up the rest.
  const int64_t grains = CeilDiv(n, grain), piece = CeilDiv(grains, int64_t{threads_} * 4) * grain;
  const int helpers = static_cast<int>(std::min<int64_t>(threads_, grains)) - 1;
  Job job{body, f, piece, helpers, std::min(helpers + 1, kMostParts)};
  job.Divide(n, grain);
  Pool::Get().Run(job);
}

}  // namespace tern
