#include "server/residency/holding_version.h"

#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

// A target that can be executed, and a version that holds requests for it.
struct Holding {
  SchedulerWithModel loaded{IntModel(), Identity};
  std::shared_ptr<HoldTimer> timer = std::make_shared<HoldTimer>();
  std::shared_ptr<HoldingVersion> version = std::make_shared<HoldingVersion>(IntModel(), "1", timer);

  std::shared_ptr<TestCall> Submit(int32_t value, milliseconds timeout = milliseconds(0)) {
    auto call = IntCall(value, {1});
    call->request.timeout = timeout;
    version->Submit(call);
    return call;
  }
};

TEST(HoldingVersion, ForwardsWhatWaits) {
  Holding h;
  const auto first = h.Submit(1), second = h.Submit(2);
  EXPECT_EQ(h.version->held(), 2u);
  EXPECT_FALSE(h.version->Drained());
  EXPECT_EQ(h.version->Pending(), 2u);
  h.version->Open(h.loaded.model);
  EXPECT_EQ(ToInts(first->Wait().outputs.at(0)), std::vector<int32_t>{1});
  EXPECT_EQ(ToInts(second->Wait().outputs.at(0)), std::vector<int32_t>{2});
  EXPECT_GT(first->times.held.count(), 0) << "the time counts as time in the queue";
  EXPECT_EQ(ToInts(h.Submit(3)->Wait().outputs.at(0)), std::vector<int32_t>{3}) << "not held any more";
  EXPECT_TRUE(Eventually([&] { return h.version->Drained(); }));
}

TEST(HoldingVersion, HeedsTimeouts) {
  Holding h;
  const auto brief = h.Submit(1, milliseconds(20)), patient = h.Submit(2, milliseconds(60'000));
  const Response response = brief->Wait();
  EXPECT_EQ(response.status.code(), Code::kUnavailable);
  EXPECT_EQ(response.status.message(), "Request timeout expired while model 'm' was being loaded");
  EXPECT_EQ(h.version->held(), 1u);
  h.version->Open(h.loaded.model);
  EXPECT_TRUE(patient->Wait().status.ok());
  EXPECT_LT(patient->request.timeout, milliseconds(60'000)) << "the time that it waited is gone";
  EXPECT_EQ(h.version->statistics().Snapshot().fail.count, 1u);
}

// Many clients may send short requests with long time-outs while a model is loaded.
TEST(HoldingVersion, NeedsOneTimeOfTheTimer) {
  Holding h;
  std::vector<std::shared_ptr<TestCall>> calls;
  for (int i = 0; i < 100; ++i) calls.push_back(h.Submit(i, milliseconds(60'000 + i)));
  EXPECT_EQ(h.timer->size(), 1u);
  const auto brief = h.Submit(100, milliseconds(10));  // earlier than the others
  EXPECT_EQ(brief->Wait().status.code(), Code::kUnavailable);
  const auto second = h.Submit(101, milliseconds(10));
  EXPECT_EQ(second->Wait().status.code(), Code::kUnavailable);
  EXPECT_LE(h.timer->size(), 4u);
  EXPECT_EQ(h.version->held(), 100u);
  h.version->Open(h.loaded.model);
  for (const auto& call : calls) EXPECT_TRUE(call->Wait().status.ok());
}

TEST(HoldingVersion, HeedsCancellation) {
  Holding h;
  const auto call = h.Submit(1);
  call->Cancel();
  EXPECT_EQ(call->Wait().status.code(), Code::kCancelled);
  EXPECT_EQ(h.version->held(), 0u);
  auto cancelled = IntCall(2, {1});
  cancelled->Cancel();
  h.version->Submit(cancelled);
  EXPECT_EQ(cancelled->Wait().status.code(), Code::kCancelled);
}

TEST(HoldingVersion, AnswersWhatCannotBeLoaded) {
  Holding h;
  const auto call = h.Submit(1);
  h.version->Refuse(Unavailable("the disk is gone"), milliseconds(70));
  EXPECT_EQ(call->Wait().status.message(), "the disk is gone");
  EXPECT_EQ(call->Wait().retry_after, milliseconds(70));
  const auto last = h.Submit(2);
  h.version->Drain(milliseconds(5), true);
  EXPECT_EQ(last->Wait().status.code(), Code::kUnavailable);
  EXPECT_EQ(h.Submit(3)->Wait().status.code(), Code::kUnavailable) << "it refuses new requests";
  const auto left = IntCall(4, {1});
  h.version = std::make_shared<HoldingVersion>(IntModel(), "1", h.timer);
  h.version->Submit(left);
  h.version.reset();
  EXPECT_EQ(left->Wait().status.code(), Code::kUnavailable) << "destroyed with a request";
}

TEST(HoldingVersion, TheLeaseOfABusyTargetIsShared) {
  Gate gate;
  SchedulerWithModel loaded(IntModel(), [&](Batch& batch) {
    gate.Pass();
    return Identity(batch);
  });
  const auto version = std::make_shared<HoldingVersion>(IntModel(), "1", std::make_shared<HoldTimer>());
  version->Open(loaded.model);
  const auto call = IntCall(1, {1});
  version->Submit(call);
  gate.AwaitWaiting(1);
  const Lease lease = version->Close();
  EXPECT_EQ(lease.use_count(), 1);
  EXPECT_FALSE(loaded.scheduler->Retired(*lease));
  gate.Open();
  EXPECT_TRUE(call->Wait().status.ok());
  EXPECT_TRUE(Eventually([&] { return loaded.scheduler->Retired(*lease); }));
}

// Requests, openings and closings of several threads: each request is answered once.
TEST(HoldingVersion, AnswersEachRequestOnce) {
  Holding h;
  std::atomic<bool> stop{false};
  std::atomic<int> ok{0}, other{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const auto call = h.Submit(i, milliseconds(i % 5 == 0 ? 1 : 0));
        if (i % 7 == t) call->Cancel();
        (call->Wait().status.ok() ? ok : other) += 1;
        EXPECT_EQ(call->count(), 1u);
      }
    });
  std::thread switcher([&] {
    while (!stop) {
      h.version->Open(h.loaded.model);
      std::this_thread::sleep_for(microseconds(200));
      (void)h.version->Close();
      std::this_thread::sleep_for(microseconds(200));
    }
    h.version->Open(h.loaded.model);
  });
  for (std::thread& thread : threads) thread.join();
  stop = true;
  switcher.join();
  EXPECT_EQ(ok + other, 900);
  EXPECT_GT(ok, 0);
}

}  // namespace
}  // namespace tern::server
