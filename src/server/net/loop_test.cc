#include "server/net/loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>

#include "server/net/timers.h"

namespace tern::server {
namespace {

using namespace std::chrono_literals;

// Runs a function on a loop and waits for it.
void On(Loop& loop, std::function<void()> function) {
  std::promise<void> done;
  loop.Post([&] {
    function();
    done.set_value();
  });
  done.get_future().wait();
}

struct Recorder : Watcher {
  std::function<void(bool, bool, bool)> action;
  std::atomic<int> calls{0};
  void OnEvents(bool readable, bool writable, bool hang_up) override {
    ++calls;
    if (action) action(readable, writable, hang_up);
  }
};

struct Pair {
  int a = -1, b = -1;
  Pair() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    a = fds[0], b = fds[1];
  }
  ~Pair() { close(a), close(b); }
};

TEST(Loop, PostsRunInOrderOnTheThread) {
  auto loops = std::move(*Loops::Start(1));
  Loop& loop = loops->at(0);
  EXPECT_FALSE(loop.OnThread());
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i)
    loop.Post([&order, i, &loop] {
      EXPECT_TRUE(loop.OnThread());
      order.push_back(i);
    });
  On(loop, [] {});
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

// Each Post finds the loop in another state: busy, about to wait, or waiting.
TEST(Loop, NoPostIsLost) {
  auto loops = std::move(*Loops::Start(1));
  for (int i = 0; i < 5000; ++i) {
    On(loops->at(0), [] {});
    for (volatile int spin = 0; spin < i % 500;) spin = spin + 1;
  }
}

TEST(Loop, PostFromManyThreadsAndFromItself) {
  auto loops = std::move(*Loops::Start(2));
  std::atomic<int> count{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i)
        loops->at(i % 2).Post([&, i] { loops->at(i % 2).Post([&] { ++count; }); });
    });
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < 500 && count < 4000; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(count, 4000);
}

TEST(Loop, FunctionsAfterStopAreDestroyedWithoutACall) {
  auto token = std::make_shared<int>(0);
  std::atomic<bool> called{false};
  {
    auto loops = std::move(*Loops::Start(1));
    Loop& loop = loops->at(0);
    On(loop, [&] {
      loop.Stop();
      loop.Post([&called, token] { called = true; });
      loop.After(0ms, [&called, token] { called = true; });
    });
    for (int i = 0; i < 500 && token.use_count() > 1; ++i) std::this_thread::sleep_for(2ms);
    EXPECT_EQ(token.use_count(), 1);
    loop.Post([&called, token] { called = true; });
  }
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_FALSE(called);
}

TEST(Loop, TimersFireInOrderAndCanBeCancelled) {
  auto loops = std::move(*Loops::Start(1));
  Loop& loop = loops->at(0);
  std::vector<int> fired;
  std::promise<void> done;
  On(loop, [&] {
    loop.After(60ms, [&] { done.set_value(); });
    loop.After(30ms, [&] { fired.push_back(2); });
    const uint64_t cancelled = loop.After(20ms, [&] { fired.push_back(-1); });
    EXPECT_NE(cancelled, 0u);
    loop.After(10ms, [&, cancelled] {
      fired.push_back(1);
      loop.Cancel(cancelled);
      loop.Cancel(cancelled);
      loop.Cancel(123456);
    });
  });
  done.get_future().wait();
  EXPECT_EQ(fired, (std::vector<int>{1, 2}));
}

TEST(Timers, CancelledOnesLeaveNoMemoryAndNewOnesWait) {
  Timers timers;
  const auto now = std::chrono::steady_clock::now();
  for (int i = 0; i < 100000; ++i) timers.Cancel(timers.Add(now + 1h, [] {}));
  EXPECT_EQ(timers.size(), 0u);
  int calls = 0;
  std::function<void()> again = [&] {
    ++calls;
    timers.Add(now, again);
  };
  timers.Add(now, again);
  timers.RunDue();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(timers.WaitMs(), 0);
  timers.Clear();
  EXPECT_EQ(timers.WaitMs(), -1);
}

TEST(Loop, ReportsReadableWritableAndHangUp) {
  auto loops = std::move(*Loops::Start(1));
  Loop& loop = loops->at(0);
  Pair pair;
  Recorder recorder;
  std::promise<void> writable, readable, hung_up;
  recorder.action = [&](bool r, bool w, bool h) {
    if (h) return loop.Remove(pair.a, &recorder), hung_up.set_value();
    if (w) return loop.Change(pair.a, &recorder, true, false), writable.set_value();
    if (r) return loop.Change(pair.a, &recorder, false, false), readable.set_value();
  };
  On(loop, [&] { EXPECT_TRUE(loop.Add(pair.a, &recorder, false, true).ok()); });
  writable.get_future().wait();
  EXPECT_EQ(write(pair.b, "x", 1), 1);
  readable.get_future().wait();
  shutdown(pair.b, SHUT_WR);
  hung_up.get_future().wait();
  On(loop, [] {});
  EXPECT_EQ(recorder.calls, 3);
}

TEST(Loop, AddOfABadDescriptorFails) {
  auto loops = std::move(*Loops::Start(1));
  Recorder recorder;
  On(loops->at(0), [&] { EXPECT_EQ(loops->at(0).Add(-1, &recorder, true, false).code(), Code::kIo); });
  EXPECT_EQ(Loops::Start(0).status().code(), Code::kInvalidArgument);
}

// Two descriptors are ready in one epoll_wait. The handler that runs first removes the other one.
TEST(Loop, NoEventAfterRemove) {
  auto loops = std::move(*Loops::Start(1));
  Loop& loop = loops->at(0);
  Pair one, two;
  Recorder first, second;
  first.action = [&](bool, bool, bool) {
    loop.Remove(one.a, &first);
    loop.Remove(two.a, &second);
  };
  second.action = first.action;
  On(loop, [&] {
    EXPECT_EQ(write(one.b, "x", 1) + write(two.b, "x", 1), 2);
    EXPECT_TRUE(loop.Add(one.a, &first, true, false).ok());
    EXPECT_TRUE(loop.Add(two.a, &second, true, false).ok());
  });
  std::this_thread::sleep_for(20ms);
  On(loop, [] {});
  EXPECT_EQ(first.calls + second.calls, 1);
}

}  // namespace
}  // namespace tern::server
