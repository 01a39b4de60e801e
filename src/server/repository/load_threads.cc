#include "server/repository/load_threads.h"

#include <sys/resource.h>

#include <algorithm>
#include <future>
#include <system_error>

#include "base/strings.h"
#include "server/core/log.h"
#include "server/core/start_pool.h"

namespace tern::server {
namespace {

thread_local LoadThreads* own_threads = nullptr;  // the object to which this thread belongs

}  // namespace

LoadThreads::LoadThreads(int count, size_t most) : count_(std::max(1, count)), most_(most) {
  StartPool();  // the pool also serves requests
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    Start();
  } catch (...) {
    Stop();  // the threads that were started use this object
    throw;
  }
}

void LoadThreads::Start() {
  if (stopped_) return;
  std::erase_if(threads_, [](Thread& thread) {
    if (thread.ended) thread.thread.join();
    return thread.ended;
  });
  while (running_ - static_cast<int>(waits_.size()) < count_ && threads_.size() < most_) {
    Thread& thread = threads_.emplace_back();
    try {
      thread.thread = std::thread([this, &thread] { Loop(thread); });
    } catch (...) {
      threads_.pop_back();
      throw;
    }
    ++running_;
  }
}

void LoadThreads::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (Thread& thread : threads_) thread.thread.join();
}

void LoadThreads::Loop(Thread& self) {
  setpriority(PRIO_PROCESS, 0, 10);  // on Linux, this sets the priority of only this thread
  own_threads = this;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // it may own the last reference to a model, whose destruction takes long
    lock.lock();
    if (running_ - static_cast<int>(waits_.size()) <= count_ || stopped_) continue;
    --running_;
    self.ended = true;  // another thread was started while this one waited
    return;
  }
}

std::string LoadThreads::DescribeWaits() const {
  const auto now = std::chrono::steady_clock::now();
  std::vector<std::string> waits;
  for (const Wait& wait : waits_)
    waits.push_back(StrCat(wait.what, " for ",
                           std::chrono::duration_cast<std::chrono::seconds>(now - wait.since).count(), " s"));
  return Join(waits, ", ");
}

LoadThreads::Waiting::Waiting(std::string what) : threads_(own_threads) {
  if (!threads_) return;
  std::string full;
  {
    const std::lock_guard<std::mutex> lock(threads_->mutex_);
    place_ =
        threads_->waits_.insert(threads_->waits_.end(), {std::move(what), std::chrono::steady_clock::now()});
    try {
      threads_->Start();
    } catch (const std::system_error&) {
      // Without a new thread, other work waits.
    }
    const bool few = threads_->running_ - static_cast<int>(threads_->waits_.size()) < threads_->count_;
    if (few && !threads_->full_)
      full = StrCat("of ", threads_->threads_.size(), " threads that load models, ", threads_->waits_.size(),
                    " wait, so that other models wait to be loaded: ", threads_->DescribeWaits());
    threads_->full_ = few;
  }
  if (!full.empty()) Log(LogLevel::kError, full);
}

LoadThreads::Waiting::~Waiting() {
  if (!threads_) return;
  const std::lock_guard<std::mutex> lock(threads_->mutex_);
  threads_->waits_.erase(place_);
}

bool LoadThreads::Waiting::cancelled() const {
  return threads_ && threads_->cancelled_.load(std::memory_order_relaxed);
}

void LoadThreads::Post(std::function<void()> work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(work));
  }
  changed_.notify_one();
}

Status LoadThreads::Run(const std::function<Status()>& work) {
  std::promise<Status> promise;
  auto result = promise.get_future();
  Post([&] { promise.set_value(work()); });
  return result.get();
}

}  // namespace tern::server
