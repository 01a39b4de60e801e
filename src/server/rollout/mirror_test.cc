#include "server/rollout/mirror.h"

#include "server/rollout/test_support.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;
using Mode = FakeVersion::Mode;

class RequestMirrorTest : public testing::Test {
 protected:
  ~RequestMirrorTest() override {
    if (mirror_) mirror_->Stop();
    candidate_->AnswerHeld();  // a held copy owns the candidate, which holds it
  }
  void Start(const RolloutPolicy& policy = {}) {
    mirror_ = std::make_shared<RequestMirror>(policy, stable_, candidate_, counters_,
                                              [this](const MirrorResult& result, const std::string& error) {
                                                const std::lock_guard lock(mutex_);
                                                results_.push_back(result);
                                                errors_.push_back(error);
                                              });
  }
  std::unique_ptr<MirrorJob> Job(bool control = false, uint64_t bytes = 8) {
    auto job = std::make_unique<MirrorJob>();
    FakeCall call(2.5f);
    job->request = call.request;
    job->expected.outputs = {{"y", DType::kF32, {1}, call.request.inputs[0].bytes}};
    job->control = control;
    job->bytes = bytes;
    return job;
  }
  size_t results() {
    const std::lock_guard lock(mutex_);
    return results_.size();
  }

  std::shared_ptr<FakeVersion> stable_ = std::make_shared<FakeVersion>("1"),
                               candidate_ = std::make_shared<FakeVersion>("2");
  std::shared_ptr<VersionCounters> counters_ = std::make_shared<VersionCounters>();
  std::mutex mutex_;
  std::vector<MirrorResult> results_;
  std::vector<std::string> errors_;
  std::shared_ptr<RequestMirror> mirror_;
};

TEST_F(RequestMirrorTest, ComparesAnswers) {
  Start();
  mirror_->Offer(Job());
  ASSERT_TRUE(Eventually([&] { return results() == 1; }));
  EXPECT_EQ(results_[0].differ, "");
  EXPECT_EQ(results_[0].candidate.ending, Ending::kOk);
  EXPECT_EQ(results_[0].candidate.duration, milliseconds(1));
  EXPECT_FALSE(results_[0].control);
  candidate_->mode = Mode::kWrong;
  mirror_->Offer(Job());
  ASSERT_TRUE(Eventually([&] { return results() == 2; }));
  EXPECT_NE(results_[1].differ.value_or(""), "");
  candidate_->mode = Mode::kFail;
  mirror_->Offer(Job());
  ASSERT_TRUE(Eventually([&] { return results() == 3; }));
  EXPECT_EQ(results_[2].candidate.ending, Ending::kFailed);
  EXPECT_FALSE(results_[2].differ);
  EXPECT_EQ(errors_[2], "it failed");
  EXPECT_EQ(candidate_->copies, 3) << "a response from the cache says nothing about the version";
  EXPECT_EQ(counters_->mirrored, 3u);
  EXPECT_EQ(counters_->differ, 1u);
  EXPECT_EQ(counters_->errors, 1u);
  EXPECT_TRUE(Eventually([&] { return mirror_->held_bytes() == 0; }));
}

TEST_F(RequestMirrorTest, RunsControls) {
  Start();
  for (int i = 0; i < 40; ++i) mirror_->Offer(Job(true));
  ASSERT_TRUE(Eventually([&] { return results() == 40; }));
  EXPECT_EQ(stable_->submitted, 80);
  EXPECT_EQ(candidate_->submitted, 80);
  for (const MirrorResult& result : results_) {
    ASSERT_TRUE(result.control);
    EXPECT_EQ(result.control->duration, milliseconds(1));
    EXPECT_EQ(result.differ, "");
  }
}

// A version whose runs after the first one take less time, as with warm caches.
class WarmingVersion : public FakeVersion {
 public:
  using FakeVersion::FakeVersion;
  void Submit(std::shared_ptr<Call> call) override {
    duration = milliseconds(submitted % 2 == 0 ? 3 : 1);
    FakeVersion::Submit(std::move(call));
  }
};

TEST_F(RequestMirrorTest, TimesTheSecondRunOfEachVersion) {
  candidate_ = std::make_shared<WarmingVersion>("2");
  Start();
  for (int i = 0; i < 20; ++i) mirror_->Offer(Job(true));
  ASSERT_TRUE(Eventually([&] { return results() == 20; }));
  for (const MirrorResult& result : results_) EXPECT_EQ(result.candidate.duration, milliseconds(1));
}

// Fails every second request.
class AlternatingVersion : public FakeVersion {
 public:
  using FakeVersion::FakeVersion;
  void Submit(std::shared_ptr<Call> call) override {
    mode = submitted % 2 == 0 ? Mode::kEcho : Mode::kFail;
    FakeVersion::Submit(std::move(call));
  }
};

TEST_F(RequestMirrorTest, CountsTheFirstRunAsTheAnswer) {
  candidate_ = std::make_shared<AlternatingVersion>("2");
  Start();
  mirror_->Offer(Job(true));
  ASSERT_TRUE(Eventually([&] { return results() == 1; }));
  EXPECT_EQ(results_[0].candidate.ending, Ending::kOk);
  EXPECT_FALSE(results_[0].control) << "the timed run failed, so that there is no duration";
  EXPECT_EQ(candidate_->submitted, 2);
}

TEST_F(RequestMirrorTest, DropsCopiesBeyondItsMemory) {
  candidate_->mode = Mode::kHang;
  RolloutPolicy policy;
  policy.mirror_bytes = 1000;
  Start(policy);
  for (int i = 0; i < 5; ++i) mirror_->Offer(Job(false, 300));
  EXPECT_EQ(counters_->dropped, 2u);
  EXPECT_EQ(mirror_->held_bytes(), 900u);
  policy.mirror_bytes = int64_t{1} << 30;
  mirror_->Stop();
  Start(policy);
  for (int i = 0; i < 1000; ++i) mirror_->Offer(Job());
  EXPECT_GE(counters_->dropped, 700u) << "copies that wait for a thread are limited";
}

TEST_F(RequestMirrorTest, CountsHangsAsFailures) {
  candidate_->mode = Mode::kHang;
  RolloutPolicy policy;
  policy.hang_seconds = 5;
  Start(policy);
  mirror_->Offer(Job());
  ASSERT_TRUE(Eventually([&] { return candidate_->submitted == 1; }));
  mirror_->Sweep(Clock::now() + std::chrono::seconds(4));
  EXPECT_EQ(results(), 0u);
  mirror_->Sweep(Clock::now() + std::chrono::seconds(6));
  ASSERT_EQ(results(), 1u);
  EXPECT_TRUE(results_[0].hung);
  EXPECT_EQ(results_[0].candidate.ending, Ending::kFailed);
  EXPECT_EQ(errors_[0], "no answer within 5 s");
  candidate_->AnswerHeld();  // too late
  EXPECT_EQ(results(), 1u);
  EXPECT_EQ(mirror_->held_bytes(), 0u);
}

TEST_F(RequestMirrorTest, IgnoresRefusals) {
  candidate_->mode = Mode::kRefuse;
  Start();
  mirror_->Offer(Job());
  ASSERT_TRUE(Eventually([&] { return results() == 1; }));
  EXPECT_EQ(results_[0].candidate.ending, Ending::kIgnored);
}

TEST_F(RequestMirrorTest, StopsWhileCopiesRun) {
  candidate_->mode = Mode::kHang;
  Start();
  for (int i = 0; i < 100; ++i) mirror_->Offer(Job());
  ASSERT_TRUE(Eventually([&] { return candidate_->submitted > 0; }));
  mirror_->Stop();
  candidate_->AnswerHeld();
  EXPECT_EQ(results(), 0u);
  bool control = false;
  EXPECT_FALSE(mirror_->Wants(Clock::now(), control));
}

TEST_F(RequestMirrorTest, WantsAShare) {
  RolloutPolicy policy;
  policy.mirror = 25;
  policy.mirror_per_second = 0;
  policy.control_per_second = 0;
  Start(policy);
  bool control = false;
  int wanted = 0;
  const auto now = Clock::now();
  for (int i = 0; i < 100; ++i) wanted += mirror_->Wants(now, control);
  EXPECT_EQ(wanted, 25);
  EXPECT_FALSE(control);
}

TEST(CopyRate, GrantsTheRate) {
  CopyRate limit(50);
  const auto begin = Clock::now();
  int granted = 0;
  for (int ms = 0; ms < 10'000; ++ms) granted += limit.Take(begin + milliseconds(ms));
  EXPECT_NEAR(granted, 500, 6);
  CopyRate slow(0.1);
  EXPECT_TRUE(slow.Take(begin));
  EXPECT_FALSE(slow.Take(begin + std::chrono::seconds(9)));
  EXPECT_TRUE(slow.Take(begin + std::chrono::seconds(11)));
}

}  // namespace
}  // namespace tern::server
