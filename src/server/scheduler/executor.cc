#include "server/scheduler/executor.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "server/core/log.h"

namespace tern::server {
namespace {

// A client that was idle starts with a used time of at least the virtual time minus kBurstNs, so that it
// cannot keep the others waiting for long.
constexpr int64_t kBurstNs = 5'000'000;
// The used time of a client may be larger, for example because of its own threads. It starts with at most the
// virtual time plus kDebtNs, so that it does not wait for long.
constexpr int64_t kDebtNs = 1'000'000'000;
constexpr int kBackgroundThreads = 2;  // number of background threads, without those whose execution is slow
constexpr int kBackgroundNiceness = 10;  // the same as that of the threads that load models

std::string SecondsSince(Clock::time_point begin) {
  return StrCat(std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count(), " s");
}

void LogFull(const std::string& error) {
  if (!error.empty()) Log(LogLevel::kError, error);
}

}  // namespace

// The client whose timer calls CheckBackground.
class Executor::BackgroundWatch final : public Client {
 public:
  explicit BackgroundWatch(Executor& executor) : executor_(executor) {}
  void Work(int) override {}
  void OnTimer() override { executor_.CheckBackground(); }

 private:
  Executor& executor_;
};

Executor::Executor(int threads, std::chrono::milliseconds patience, size_t most_background)
    : threads_(std::max(1, threads)),
      patience_(patience),
      most_background_(most_background),
      background_watch_(std::make_shared<BackgroundWatch>(*this)) {
  try {
    for (int i = 0; i < threads_; ++i) workers_.emplace_back([this] { RunWorker(); });
    timer_thread_ = std::thread([this] { RunTimer(); });
  } catch (...) {
    Stop();  // the threads that were started use this object
    throw;
  }
}

void Executor::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  {
    const std::lock_guard lock(timer_mutex_);
    timer_stop_ = true;
  }
  {
    const std::lock_guard lock(background_mutex_);
    background_stop_ = true;
  }
  wake_.notify_all();
  timer_wake_.notify_all();
  background_wake_.notify_all();
  for (auto& worker : workers_)
    if (worker.joinable()) worker.join();
  for (auto& worker : background_workers_)
    if (worker.thread.joinable()) worker.thread.join();
  if (timer_thread_.joinable()) timer_thread_.join();
  ready_.clear();
  background_.clear();
  dropped_.clear();
  timers_.clear();
}

void Executor::MakeReady(std::shared_ptr<Client> client) {
  if (client->background()) return MakeReadyInBackground(std::move(client));
  {
    const std::lock_guard lock(mutex_);
    if (stop_ || client->ready_) return;
    client->ready_ = true;
    const int64_t behind = clock_ns_ - kBurstNs - client->used_ns();
    if (behind > 0) client->Charge(behind);
    const int64_t ahead = client->used_ns() - clock_ns_ - kDebtNs;
    if (ahead > 0) client->Charge(-ahead);
    ready_.push_back(std::move(client));
  }
  wake_.notify_one();
}

void Executor::SetBackground(const std::shared_ptr<Client>& client, bool background) {
  std::string name = client->Describe(), full;
  {
    const std::lock_guard lock(background_mutex_);
    client->name_ = std::move(name);
    client->background_.store(background, std::memory_order_release);
    if (background) full = StartBackground();
  }
  LogFull(full);
}

// Starts threads until enough of them are not slow, or until there are most_background_.
std::string Executor::StartBackground() {
  if (background_stop_) return {};
  std::erase_if(background_workers_, [](BackgroundThread& worker) {
    if (worker.ended) worker.thread.join();
    return worker.ended;
  });
  while (MissingBackground() > 0 && background_workers_.size() < most_background_) {
    BackgroundThread& worker = background_workers_.emplace_back();
    try {
      worker.thread = std::thread([this, &worker] { RunBackground(worker); });
    } catch (...) {
      background_workers_.pop_back();
      throw;
    }
  }
  const bool known = std::exchange(background_full_, MissingBackground() > 0);
  if (known || !background_full_) return {};
  std::vector<std::string> clients;
  for (const BackgroundThread& worker : background_workers_)
    if (worker.started != kNever)
      clients.push_back(StrCat(worker.client, " for ", SecondsSince(worker.started)));
  return StrCat(
      "all ", background_workers_.size(),
      " threads that try new versions are busy, others wait until a request ends: ", Join(clients, ", "));
}

int Executor::MissingBackground() const {
  const auto usable = std::count_if(background_workers_.begin(), background_workers_.end(),
                                    [](const auto& worker) { return !worker.slow && !worker.ended; });
  return std::min(threads_, kBackgroundThreads) - static_cast<int>(usable);
}

Clock::time_point Executor::NextBackgroundCheck() const {
  Clock::time_point next = kNever;
  if (background_.empty()) return next;
  for (const BackgroundThread& worker : background_workers_)
    if (!worker.slow && worker.started != kNever) next = std::min(next, worker.started + patience_);
  return next;
}

void Executor::CheckBackground() {
  Clock::time_point next = kNever;
  std::string full;
  {
    const std::lock_guard lock(background_mutex_);
    if (background_.empty()) return;
    const Clock::time_point now = Clock::now();
    for (BackgroundThread& worker : background_workers_)
      worker.slow |= worker.started != kNever && worker.started + patience_ <= now;
    (void)Guard([&]() -> Status {  // without a new thread, the others go on
      full = StartBackground();
      return {};
    })
        .ok();
    next = NextBackgroundCheck();
  }
  LogFull(full);
  At(next, background_watch_);
}

void Executor::MakeReadyInBackground(std::shared_ptr<Client> client) {
  Clock::time_point check = kNever;
  {
    const std::lock_guard lock(background_mutex_);
    if (background_stop_ || client->waits_) return;
    client->waits_ = true;
    background_.push_back(std::move(client));
    check = NextBackgroundCheck();
  }
  background_wake_.notify_one();
  At(check, background_watch_);
}

void Executor::RunBackground(BackgroundThread& self) {
  setpriority(PRIO_PROCESS, 0, kBackgroundNiceness);  // on Linux, of this thread
  std::unique_lock lock(background_mutex_);
  while (true) {
    background_wake_.wait(lock, [this] { return background_stop_ || !background_.empty(); });
    if (background_stop_) return;
    std::shared_ptr<Client> client = std::move(background_.front());
    background_.pop_front();
    client->waits_ = false;
    self.started = Clock::now();
    self.client = client->name_;
    const Clock::time_point check = NextBackgroundCheck();
    lock.unlock();
    At(check, background_watch_);
    client->Work(1);
    client.reset();
    lock.lock();
    self.started = kNever;
    self.slow = false;
    if (MissingBackground() >= 0) continue;
    self.ended = true;  // another thread has taken its place
    return;
  }
}

void Executor::Drop(std::shared_ptr<Client> client) {
  {
    const std::lock_guard lock(mutex_);
    if (stop_) return;
    dropped_.push_back(std::move(client));
  }
  wake_.notify_one();
}

std::shared_ptr<Executor::Client> Executor::TakeLeastUsed() {
  const auto least = std::min_element(
      ready_.begin(), ready_.end(), [](const auto& a, const auto& b) { return a->used_ns() < b->used_ns(); });
  std::shared_ptr<Client> client = std::move(*least);
  ready_.erase(least);
  client->ready_ = false;
  clock_ns_ = std::max(clock_ns_, client->used_ns());
  return client;
}

void Executor::RunWorker() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || !ready_.empty() || !dropped_.empty(); });
    if (stop_) return;
    if (!dropped_.empty()) {
      std::vector<std::shared_ptr<Client>> gone;
      gone.swap(dropped_);
      lock.unlock();
      gone.clear();
      lock.lock();
      continue;
    }
    std::shared_ptr<Client> client = TakeLeastUsed();
    ++busy_;
    const int usable = ready_.empty() && busy_ == 1 ? threads_ : 1;
    lock.unlock();
    client->Work(usable);
    client.reset();  // without the lock, because this may destroy a model
    lock.lock();
    --busy_;
  }
}

void Executor::At(Clock::time_point time, const std::shared_ptr<Client>& client) {
  if (time == kNever) return;
  bool first = false;
  {
    const std::lock_guard lock(timer_mutex_);
    if (timer_stop_ || client->timer_ <= time) return;
    if (client->timer_ != kNever) timers_.erase(client->timer_place_);
    client->timer_ = time;
    client->timer_place_ = timers_.emplace(time, client);
    first = client->timer_place_ == timers_.begin();
  }
  if (first) timer_wake_.notify_one();
}

size_t Executor::timers() {
  const std::lock_guard lock(timer_mutex_);
  return timers_.size();
}

void Executor::RunTimer() {
  prctl(PR_SET_TIMERSLACK, 1UL);  // in ns; the default of 50 µs would be added to each delay
  std::unique_lock lock(timer_mutex_);
  while (!timer_stop_) {
    if (timers_.empty()) {
      timer_wake_.wait(lock);
      continue;
    }
    const Clock::time_point time = timers_.begin()->first;
    if (time > Clock::now()) {
      timer_wake_.wait_until(lock, time);
      continue;
    }
    std::shared_ptr<Client> client = timers_.begin()->second.lock();
    timers_.erase(timers_.begin());
    if (!client) continue;
    client->timer_ = kNever;
    lock.unlock();
    client->OnTimer();
    client.reset();
    lock.lock();
  }
}

}  // namespace tern::server
