#include "base/thread_pool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include "base/cores.h"
#include "base/idle_scope.h"
#include "base/pause.h"
#include "base/placement.h"

namespace tern {
namespace {

constexpr int kSpins = 2000;    // number of Pause() calls before a waiting thread yields its core
constexpr int kMinChunks = 32;  // the smallest chunk is 1/32 of a thread's share of the loop
constexpr int kMaxParts = 64;   // maximum number of parts of a loop

// kOwn: the thread helps no other thread. kHelps: it helps in another thread's loop. kLeft: it must leave
// that loop early, and ActiveThreads no longer counts it.
enum class Role { kOwn, kHelps, kLeft };

struct ThisThread {
  int active_depth = 0;  // number of nested ActiveScopes
  bool inside_loop = false;
  Role role = Role::kOwn;
  int cpu = -1;  // where Placement counts this thread, if it runs a model
};
thread_local ThisThread self;

void Wait(int& spins) {
  if (++spins < kSpins)
    Pause();
  else
    std::this_thread::yield();
}

// A spinlock for critical sections of a few instructions.
class SpinLock {
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

// Counts the running threads, which are callers and helpers. A caller runs a model or a loop. A helper may
// enter only if fewer threads run than there are cores. The counters publish no data, so relaxed memory order
// is enough.
class ActiveThreads {
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
  // If more threads run than there are cores, subtracts one helper and returns true. The calling helper must
  // then leave its loop.
  bool HelperMustLeave() {
    uint64_t count = Load();
    while (Total(count) > cores_)
      if (count_.compare_exchange_weak(count, count - kHelper, std::memory_order_relaxed)) return true;
    return false;
  }
  bool Full() const { return Total(Load()) >= cores_; }
  // Returns how many threads of the pool to wake for a loop that wants `wanted` helpers, if `awake` threads
  // of the pool are awake. A result of 0 or less means none.
  int HelpersToWake(int wanted, int awake) const {
    const uint64_t count = Load();
    const int idle = std::max(0, awake - static_cast<int>(count >> 32));
    return std::min(wanted, cores_ - Total(count)) - idle;
  }

 private:
  // The increment of count_ for one helper. The high half of count_ counts helpers; the low half counts all
  // threads.
  static constexpr uint64_t kHelper = (uint64_t{1} << 32) + 1;
  static int Total(uint64_t count) { return static_cast<int>(static_cast<uint32_t>(count)); }
  uint64_t Load() const { return count_.load(std::memory_order_relaxed); }

  const int cores_ = UsableCores();
  alignas(64) std::atomic<uint64_t> count_{0};
};

// Never destroyed, because threads of the pool may still read it when the process exits.
ActiveThreads& TheActiveThreads() {
  static ActiveThreads* active_threads = new ActiveThreads();
  return *active_threads;
}

// Adapts how long an idle thread of the pool spins before it sleeps. To wake a sleeping thread takes as long
// as a small step of a plan. A gap is the time between two loops that the thread helps in. After a gap
// shorter than kMax, the spin time is multiplied by 4, so that the thread stays awake in the next gap. After
// a longer gap, the spin time is halved.
class SpinTime {
 public:
  void Begin() { start_ = Clock::now(); }
  // Spins until `condition` returns true. Returns false when the time is over or no core is free.
  template <class F> bool SpinUntil(const F& condition, const ActiveThreads& active_threads) const {
    for (;;) {
      for (int i = 0; i < 32; ++i) {
        if (condition()) return true;
        Pause();
      }
      const Time time = Clock::now() - start_;
      if (time >= time_ || active_threads.Full()) return false;
      if (time >= kYieldAfter) std::this_thread::yield();
    }
  }
  void Adapt() {
    time_ = Clock::now() - start_ < kMax ? std::min(kMax, time_ * 4) : std::max(kMin, time_ / 2);
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Time = std::chrono::nanoseconds;
  static constexpr Time kMin{10'000}, kMax{500'000}, kYieldAfter{50'000};
  Time time_ = kMax;
  Clock::time_point start_ = Clock::now();
};

int64_t CeilDiv(int64_t n, int64_t size) { return (n + size - 1) / size; }

// One call of ParallelFor. The job is on the caller's stack. Before the caller returns, it removes the job
// from the list and waits until every helper has left.
struct Job {
  // Each thread first runs the chunks of its own part. If consecutive loops process the same rows, a thread
  // thus finds its rows in its cache.
  struct alignas(64) Part {
    std::atomic<int64_t> at;
    int64_t end;
  };
  using Body = void (*)(const void*, int64_t, int64_t, int);

  const Body body;
  const void* const f;
  const int64_t chunk;  // the smallest size of a chunk, except the last one of a part
  const int helpers_wanted, parts;
  int joined = 0;  // guarded by Pool::jobs_lock_
  Job* next = nullptr;
  std::atomic<int> active{0};
  union {
    Part part[kMaxParts];  // only the first `parts` are constructed, to save time
  };

  // Divides [0, n) into parts whose sizes differ by at most one grain. The size of a part need not be a
  // multiple of `chunk`.
  Job(Body job_body, const void* function, int64_t n, int64_t grain, int64_t smallest, int helpers)
      : body(job_body),
        f(function),
        chunk(smallest),
        helpers_wanted(helpers),
        parts(std::min(helpers + 1, kMaxParts)) {
    const int64_t grains = CeilDiv(n, grain);
    for (int i = 0; i < parts; ++i)
      new (&part[i]) Part{grains * i / parts * grain, std::min(n, grains * (i + 1) / parts * grain)};
  }
  Job(const Job&) = delete;
  ~Job() {}  // parts need no destructor
  bool HasWork() const {
    for (int i = 0; i < parts; ++i)
      if (part[i].at.load(std::memory_order_relaxed) < part[i].end) return true;
    return false;
  }
  void Work(int worker) {
    self.inside_loop = true;
    for (int i = 0; i < parts; ++i) Work(part[(worker + i) % parts], worker);
    self.inside_loop = false;
  }
  // Returns the size of the next chunk: a quarter of `remaining`, rounded up to a multiple of `chunk`. The
  // first chunks are large, so that there are few. The last chunks are small, so that all threads finish at
  // about the same time.
  int64_t ChunkOf(int64_t remaining) const { return std::max(CeilDiv(remaining, 4 * chunk) * chunk, chunk); }
  // Runs chunks of part `p` until none is left. Worker 0, the caller, never leaves early.
  void Work(Part& p, int worker) {
    int64_t begin = p.at.load(std::memory_order_relaxed);
    while (begin < p.end && (worker == 0 || Workers::Stay())) {
      const int64_t end = std::min(begin + ChunkOf(p.end - begin), p.end);
      if (!p.at.compare_exchange_weak(begin, end, std::memory_order_relaxed)) continue;
      body(f, begin, end, worker);
      begin = p.at.load(std::memory_order_relaxed);
    }
  }
};

class Pool {
 public:
  // Never destroyed, because threads may still wait in it when the process exits.
  static Pool& Get() {
    static Pool* pool = new Pool();
    return *pool;
  }

  // Starts up to `count` threads. If the system refuses some or all of them, loops have fewer helpers.
  void EnsureThreads(int count) {
    std::lock_guard<std::mutex> lock(mutex_);
    try {
      // A single helper needs no placement, because the system keeps two threads apart.
      if (count > 1) placement_.store(Placement::Get(), std::memory_order_release);
      for (; threads_ < count; ++threads_) std::thread([this] { Loop(); }).detach();
    } catch (const std::exception&) {
    }
  }

  void Run(Job& job) {
    if (Placement* placement = ThePlacement()) self.cpu = placement->Follow(self.cpu);
    Publish(job);
    job.Work(0);
    Withdraw(job);
    for (int spins = 0; job.active.load(std::memory_order_acquire) != 0;) Wait(spins);
  }

 private:
  void Publish(Job& job) {
    {
      std::lock_guard<SpinLock> lock(jobs_lock_);
      job.next = jobs_;
      jobs_ = &job;
    }
    // epoch_ must change before sleeping_ is read, because Sleep increments sleeping_ before it reads epoch_.
    // So if this thread does not see a sleeping thread, that thread sees the new epoch and does not wait.
    epoch_.fetch_add(1);
    const int sleeping = sleeping_.load();
    if (sleeping == 0) return;
    const int wake =
        std::min(active_threads_.HelpersToWake(job.helpers_wanted, threads_.load() - sleeping), sleeping);
    if (wake <= 0) return;
    { std::lock_guard<std::mutex> lock(mutex_); }     // now a thread that read the old epoch waits for wake_
    if (wake == sleeping) return wake_.notify_all();  // one system call
    for (int i = 0; i < wake; ++i) wake_.notify_one();
  }

  void Withdraw(Job& job) {
    std::lock_guard<SpinLock> lock(jobs_lock_);
    Job** at = &jobs_;
    while (*at != &job) at = &(*at)->next;
    *at = job.next;
  }

  // Joins a job that still wants helpers and returns it; null if there is none.
  Job* Join(int& worker) {
    std::lock_guard<SpinLock> lock(jobs_lock_);
    for (Job* job = jobs_; job; job = job->next) {
      if (job->joined >= job->helpers_wanted || !job->HasWork()) continue;
      if (!active_threads_.HelperEnters()) return nullptr;
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
    job.active.fetch_sub(1, std::memory_order_release);  // the caller may destroy the job now
    if (self.role == Role::kHelps) active_threads_.HelperLeaves();
    self.role = Role::kOwn;
  }

  void Loop() {
    self.active_depth = 1;  // ActiveScopes must not count this thread, because HelperEnters counts it
    SpinTime spin_time;
    Placement::Helper place;
    for (;;) {
      const uint64_t seen = epoch_.load(std::memory_order_acquire);
      int worker = 0;
      if (Job* job = Join(worker)) {
        spin_time.Adapt();
        if (Placement* placement = ThePlacement()) placement->Start(place);
        Help(*job, worker);
        spin_time.Begin();
      } else if (!spin_time.SpinUntil([&] { return epoch_.load(std::memory_order_acquire) != seen; },
                                      active_threads_)) {
        if (Placement* placement = ThePlacement()) placement->End(place);
        Sleep(seen);
      }
    }
  }

  Placement* ThePlacement() const { return placement_.load(std::memory_order_acquire); }

  ActiveThreads& active_threads_ = TheActiveThreads();
  std::atomic<Placement*> placement_{nullptr};  // set once
  SpinLock jobs_lock_;
  Job* jobs_ = nullptr;
  alignas(64) std::atomic<uint64_t> epoch_{0};
  std::atomic<int> sleeping_{0};
  alignas(64) std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<int> threads_{0};  // written under mutex_
};

// Ends the count of the calling thread on the CPU on which Pool::Run counted it.
void LeaveCpu() {
  if (self.cpu >= 0) Placement::Get()->Leave(self.cpu);
  self.cpu = -1;
}

}  // namespace

ActiveScope::ActiveScope() {
  if (self.active_depth++ == 0) TheActiveThreads().Enter();
}
ActiveScope::~ActiveScope() {
  if (--self.active_depth > 0) return;
  LeaveCpu();
  TheActiveThreads().Leave();
}

IdleScope::IdleScope() : active_depth_(self.inside_loop ? 0 : self.active_depth) {
  if (active_depth_ == 0) return;
  self.active_depth = 0;
  LeaveCpu();
  TheActiveThreads().Leave();
}
IdleScope::~IdleScope() {
  if (active_depth_ == 0) return;
  self.active_depth = active_depth_;
  TheActiveThreads().Enter();
}

Workers::Workers(int threads)
    : threads_(threads == 0 ? UsableCores() : std::clamp(threads, 1, UsableCores())) {}

bool Workers::Nested() { return self.inside_loop; }

bool Workers::Stay() {
  if (self.role == Role::kHelps && TheActiveThreads().HelperMustLeave()) self.role = Role::kLeft;
  return self.role != Role::kLeft;
}

void Workers::RunParallel(int64_t n, int64_t grain, Body body, const void* f) const {
  const ActiveScope active_scope;
  thread_local int ensured = 0;
  if (ensured < threads_) {
    Pool::Get().EnsureThreads(threads_ - 1);
    ensured = threads_;
  }
  const int64_t grains = CeilDiv(n, grain), chunk = CeilDiv(grains, int64_t{threads_} * kMinChunks) * grain;
  const int helpers = static_cast<int>(std::min<int64_t>(threads_, grains)) - 1;
  Job job(body, f, n, grain, chunk, helpers);
  Pool::Get().Run(job);
}

}  // namespace tern
