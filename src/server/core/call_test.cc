#include "server/core/call.h"

#include <gtest/gtest.h>

#include <barrier>
#include <vector>

namespace tern::server {
namespace {

class TestCall : public Call {
 public:
  std::atomic<int> finals{0}, parts{0}, after_final{0}, inside{0}, overlaps{0};

 private:
  void OnResponse(Response response) override {
    if (inside.fetch_add(1) != 0) overlaps.fetch_add(1);
    if (finals.load() > 0) after_final.fetch_add(1);
    (response.final ? finals : parts).fetch_add(1);
    inside.fetch_sub(1);
  }
};

Response Part() {
  Response response;
  response.final = false;
  return response;
}

Response Failure(Code code) {
  Response response;
  response.status = Status(code, "no");
  response.final = false;
  return response;
}

TEST(Call, TapsSeeEachResponseBeforeTheFrontEnd) {
  const auto call = std::make_shared<TestCall>();
  const auto owned = std::make_shared<int>();
  std::vector<int> seen;
  call->Tap([&, owned](const Response&) { seen.push_back(call->parts + 10 * call->finals); });
  call->Tap([&](const Response& response) { seen.push_back(response.final ? 2 : 1); });
  call->Respond(Part());
  call->Respond(Response());
  call->Respond(Response());
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 1, 2}));
  EXPECT_EQ(owned.use_count(), 1) << "the taps of a finished call are destroyed";
}

TEST(Call, DropsResponsesAfterTheFinalOne) {
  const auto call = std::make_shared<TestCall>();
  call->Respond(Part());
  call->Respond(Part());
  EXPECT_FALSE(call->finished());
  call->Respond(Response());
  EXPECT_TRUE(call->finished());
  call->Respond(Part());
  call->Respond(Response());
  EXPECT_EQ(call->parts, 2);
  EXPECT_EQ(call->finals, 1);
}

TEST(Call, AnErrorIsFinal) {
  const auto call = std::make_shared<TestCall>();
  call->Respond(Failure(Code::kInternal));
  EXPECT_EQ(call->finals, 1);
  EXPECT_TRUE(call->finished());
}

TEST(Call, CancelRunsTheActionOnce) {
  const auto call = std::make_shared<TestCall>();
  int first = 0, second = 0;
  call->OnCancel([&] { ++first; });
  call->OnCancel([&] { ++second; });
  call->Cancel();
  call->Cancel();
  EXPECT_TRUE(call->cancelled());
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST(Call, ActionRunsAtOnceOnACancelledCall) {
  const auto call = std::make_shared<TestCall>();
  call->Cancel();
  int runs = 0;
  call->OnCancel([&] { ++runs; });
  EXPECT_EQ(runs, 1);
}

TEST(Call, FinishedCallsRunNoAction) {
  const auto call = std::make_shared<TestCall>();
  int runs = 0;
  const auto held = std::make_shared<int>(0);
  call->OnCancel([&runs, held] { ++runs; });
  call->Respond(Response());
  EXPECT_EQ(held.use_count(), 1) << "the action is destroyed with the final response";
  call->Cancel();
  call->OnCancel([&] { ++runs; });
  EXPECT_EQ(runs, 0);
}

TEST(Call, RemovingTheActionWaitsForIt) {
  const auto call = std::make_shared<TestCall>();
  std::atomic<bool> started{false}, ended{false};
  call->OnCancel([&] {
    started = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ended = true;
  });
  std::thread canceller([&] { call->Cancel(); });
  while (!started) std::this_thread::yield();
  call->OnCancel({});
  EXPECT_TRUE(ended);
  canceller.join();
}

TEST(Call, AnActionMayRespondAndRemoveItself) {
  const auto call = std::make_shared<TestCall>();
  call->OnCancel([&] {
    call->OnCancel({});
    call->Respond(Failure(Code::kCancelled));
  });
  call->Cancel();
  EXPECT_EQ(call->finals, 1);
}

// Many threads respond and cancel. There must be exactly one final response, which is the last. Calls of
// OnResponse must not overlap.
TEST(Call, RespondAgainstCancel) {
  for (int round = 0; round < 200; ++round) {
    const auto call = std::make_shared<TestCall>();
    call->OnCancel([raw = call.get()] { raw->Respond(Failure(Code::kCancelled)); });
    std::barrier start(4);
    std::vector<std::thread> threads;
    threads.emplace_back([&] { start.arrive_and_wait(), call->Cancel(); });
    threads.emplace_back([&] { start.arrive_and_wait(), call->Respond(Response()); });
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        for (int k = 0; k < 20; ++k) call->Respond(Part());
      });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(call->finals, 1);
    EXPECT_EQ(call->after_final, 0);
    EXPECT_EQ(call->overlaps, 0);
  }
}

// Cancel and OnCancel are called at the same time. The action must run exactly once.
TEST(Call, OnCancelAgainstCancel) {
  for (int round = 0; round < 500; ++round) {
    const auto call = std::make_shared<TestCall>();
    std::atomic<int> runs{0};
    std::thread canceller([&] { call->Cancel(); });
    call->OnCancel([&] { runs.fetch_add(1); });
    canceller.join();
    EXPECT_EQ(runs, 1);
  }
}

}  // namespace
}  // namespace tern::server
