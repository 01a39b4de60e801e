#include "server/repository/load_threads.h"

#include <sys/resource.h>

#include <algorithm>
#include <future>

#include "server/core/start_pool.h"

namespace tern::server {

LoadThreads::LoadThreads(int count) {
  StartPool();  // the pool also serves requests
  try {
    for (int i = 0; i < std::max(1, count); ++i) threads_.emplace_back([this] { Loop(); });
  } catch (...) {
    Stop();  // the threads that were started use this object
    throw;
  }
}

void LoadThreads::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void LoadThreads::Loop() {
  setpriority(PRIO_PROCESS, 0, 10);  // on Linux, this sets the priority of only this thread
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
  }
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

void LoadThreads::RunAll(const std::vector<std::function<void()>>& work) {
  std::vector<std::promise<void>> done(work.size());
  for (size_t i = 0; i < work.size(); ++i)
    Post([&work, &done, i] {
      work[i]();
      done[i].set_value();
    });
  for (auto& promise : done) promise.get_future().wait();
}

}  // namespace tern::server
