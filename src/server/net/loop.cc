#include "server/net/loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

#include "server/core/start_pool.h"
#include "server/net/short_slices.h"
#include "server/net/timers.h"

namespace tern::server {

struct Loop::State {
  int epoll = -1, wake = -1;
  std::atomic<std::thread::id> thread{};
  std::atomic<bool> stop{false};

  std::mutex mutex;  // guards posted and ended
  std::vector<std::function<void()>> posted;
  bool ended = false;  // Run has returned, so newly posted functions are destroyed at once
  // Post sets has_posted, then reads `waiting`. Run sets `waiting`, then reads has_posted. So at least one of
  // them sees what the other has set, and Post need not wake a busy loop.
  std::atomic<bool> has_posted{false}, waiting{false};

  Timers timers;
  std::array<epoll_event, 64> events;  // returned by the last epoll_wait
  int collected = 0;

  ~State() {
    if (epoll >= 0) close(epoll);
    if (wake >= 0) close(wake);
  }
  void Wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake, &one, sizeof one);
  }
  void RunPosted();
  void Deliver();
  int WaitMs();
};

namespace {

// Watchers handle their own failures. An exception that still escapes, such as std::bad_alloc, must not end
// the process.
template <class F> void Contain(F&& function) {
  static_cast<void>(Guard([&] {
    function();
    return Status();
  }));
}

epoll_event EventOf(Watcher* watcher, bool read, bool write) {
  epoll_event event{};
  // After a client has closed its sending direction, EPOLLRDHUP is raised forever. It is not requested while
  // only writing is watched, because the loop would then spin.
  event.events = (read ? EPOLLIN : 0u) | (write ? EPOLLOUT : 0u) | (read || !write ? EPOLLRDHUP : 0u);
  event.data.ptr = watcher;
  return event;
}

}  // namespace

Loop::Loop(std::unique_ptr<State> state) : state_(std::move(state)) {}
Loop::~Loop() = default;

Result<std::unique_ptr<Loop>> Loop::Create() {
  auto state = std::make_unique<State>();
  state->epoll = epoll_create1(EPOLL_CLOEXEC);
  state->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (state->epoll < 0 || state->wake < 0) return IoError("cannot create an event loop: ", strerror(errno));
  epoll_event event = EventOf(nullptr, true, false);
  event.data.ptr = state.get();
  if (epoll_ctl(state->epoll, EPOLL_CTL_ADD, state->wake, &event) != 0)
    return IoError("cannot create an event loop: ", strerror(errno));
  return std::unique_ptr<Loop>(new Loop(std::move(state)));
}

Status Loop::Add(int fd, Watcher* watcher, bool read, bool write) {
  epoll_event event = EventOf(watcher, read, write);
  if (epoll_ctl(state_->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
    return IoError("cannot watch a descriptor: ", strerror(errno));
  return {};
}

void Loop::Change(int fd, Watcher* watcher, bool read, bool write) {
  epoll_event event = EventOf(watcher, read, write);
  epoll_ctl(state_->epoll, EPOLL_CTL_MOD, fd, &event);
}

void Loop::Remove(int fd, Watcher* watcher) {
  epoll_ctl(state_->epoll, EPOLL_CTL_DEL, fd, nullptr);
  for (int i = 0; i < state_->collected; ++i) {
    epoll_event& event = state_->events[static_cast<size_t>(i)];
    if (event.data.ptr == watcher) event.data.ptr = nullptr;
  }
}

void Loop::Post(std::function<void()> function) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->ended) return;
    state_->posted.push_back(std::move(function));
  }
  if (!state_->has_posted.exchange(true) && state_->waiting) state_->Wake();
}

uint64_t Loop::After(std::chrono::milliseconds delay, std::function<void()> function) {
  return state_->timers.Add(std::chrono::steady_clock::now() + delay, std::move(function));
}

void Loop::Cancel(uint64_t timer) { state_->timers.Cancel(timer); }

bool Loop::OnThread() const {
  return state_->thread.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void Loop::Stop() {
  state_->stop = true;
  state_->Wake();
}

void Loop::State::RunPosted() {
  if (!has_posted.load(std::memory_order_acquire)) return;
  std::vector<std::function<void()>> functions;
  {
    const std::lock_guard lock(mutex);
    has_posted = false;
    functions.swap(posted);
  }
  for (auto& function : functions) {
    if (stop) return;
    Contain(function);
    function = nullptr;
  }
}

int Loop::State::WaitMs() {
  waiting = true;
  if (has_posted) return 0;
  return timers.WaitMs();
}

void Loop::State::Deliver() {
  for (int i = 0; i < collected && !stop; ++i) {
    const epoll_event event = events[static_cast<size_t>(i)];
    if (event.data.ptr == this) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = read(wake, &count, sizeof count);
    } else if (event.data.ptr) {
      Contain([&] {
        static_cast<Watcher*>(event.data.ptr)
            ->OnEvents(event.events & EPOLLIN, event.events & EPOLLOUT,
                       event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
      });
    }
  }
  collected = 0;
}

void Loop::Run() {
  State& s = *state_;
  s.thread = std::this_thread::get_id();
  UseShortSlices();
  while (!s.stop) {
    const int count = epoll_wait(s.epoll, s.events.data(), static_cast<int>(s.events.size()), s.WaitMs());
    s.waiting = false;
    s.collected = count > 0 ? count : 0;
    s.Deliver();
    if (!s.stop) Contain([&] { s.timers.RunDue(); });
    if (!s.stop) s.RunPosted();
  }
  std::vector<std::function<void()>> dropped;
  {
    const std::lock_guard lock(s.mutex);
    s.ended = true;
    dropped.swap(s.posted);
  }
  dropped.clear();
  s.timers.Clear();
}

Result<std::unique_ptr<Loops>> Loops::Start(int count) {
  if (count < 1) return InvalidArgument("the number of event loops must be at least 1, got ", count);
  StartPool();
  auto loops = std::make_unique<Loops>();
  for (int i = 0; i < count; ++i) {
    TERN_ASSIGN(auto loop, Loop::Create());
    loops->loops_.push_back(std::move(loop));
  }
  for (auto& loop : loops->loops_) {
    loops->threads_.emplace_back([loop = loop.get()] {
      // Signals are delivered to other threads. With SIGPIPE blocked, a write to a closed socket fails with
      // EPIPE.
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      loop->Run();
    });
  }
  return loops;
}

Loops::~Loops() {
  for (auto& loop : loops_) loop->Stop();
  for (auto& thread : threads_) thread.join();
}

}  // namespace tern::server
