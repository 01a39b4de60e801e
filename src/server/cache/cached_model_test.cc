#include "server/cache/cached_model.h"

#include <gtest/gtest.h>

#include "server/cache/fake_redis.h"
#include "server/cache/version_identity.h"
#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

using namespace std::chrono_literals;

// A cached model that doubles its input and counts its executions.
class CachedModelTest : public testing::Test {
 protected:
  void Make(const CacheOptions& options, ModelConfig config = IntModel(4)) {
    auto created = ResponseCache::Create(options);
    ASSERT_TRUE(created.ok()) << created.status().ToString();
    cache_ = *created;
    scheduler_ = Scheduler::Create({.threads = 2});
    config.response_cache = true;
    model_ = Add(std::move(config), "1");
  }
  void MakeLocal(ModelConfig config = IntModel(4)) {
    Make({.local = true, .local_bytes = 1 << 20, .redis = {}}, std::move(config));
  }
  void MakeRedis(std::chrono::milliseconds timeout = 2000ms) {
    CacheOptions options;
    options.redis.emplace();
    options.redis->host = "127.0.0.1";
    options.redis->port = redis_.port();
    options.redis->timeout = timeout;
    Make(options);
    ASSERT_TRUE(Eventually([&] { return cache_->Facts().redis_up; }));
  }
  std::shared_ptr<ModelVersion> Add(ModelConfig config, const std::string& identity) {
    const bool cached = config.response_cache;
    auto added = scheduler_->Add(std::move(config), "1",
                                 std::make_unique<FakeModel>([this](Batch& batch) { return Double(batch); }));
    EXPECT_TRUE(added.ok()) << added.status().ToString();
    (*added)->SetIdentity(identity);
    return cached ? Cached(*added) : *added;
  }
  std::shared_ptr<ModelVersion> Cached(std::shared_ptr<ModelVersion> version) {
    auto cached = CachedModel::Create(std::move(version), cache_, registry_);
    EXPECT_TRUE(cached.ok()) << cached.status().ToString();
    return *cached;
  }
  void TearDown() override {
    scheduler_.reset();
    if (cache_) cache_->Stop();
  }
  Result<std::vector<WireTensor>> Double(Batch& batch) {
    ++executions_;
    if (error_) return InvalidArgument("it fails");
    std::vector<int32_t> values = ToInts(batch.inputs[0]);
    for (int32_t& value : values) value *= 2;
    return std::vector<WireTensor>{Ints("y", batch.inputs[0].dims, values)};
  }
  Response Run(int32_t value) {
    const auto call = IntCall(value);
    model_->Submit(call);
    return call->Wait();
  }
  int32_t Answer(int32_t value) {
    const Response response = Run(value);
    EXPECT_TRUE(response.status.ok()) << response.status.ToString();
    return response.outputs.empty() ? -1 : ToInts(response.outputs[0])[0];
  }
  StatisticsSnapshot Statistics() { return model_->statistics().Snapshot(); }

  FakeRedis redis_;
  Registry registry_;
  std::shared_ptr<ResponseCache> cache_;
  std::unique_ptr<Scheduler> scheduler_;
  std::shared_ptr<ModelVersion> model_;
  std::atomic<int> executions_{0};
  std::atomic<bool> error_{false};
};

// Copies of requests compare two versions of a model.
TEST_F(CachedModelTest, ExecutesRequestsThatAskForIt) {
  MakeLocal();
  EXPECT_EQ(Answer(3), 6);
  const auto call = IntCall(3);
  call->request.copy = true;
  model_->Submit(call);
  EXPECT_EQ(ToInts(call->Wait().outputs.at(0)), std::vector<int32_t>{6});
  EXPECT_EQ(executions_, 2);
  EXPECT_EQ(Answer(3), 6);
  EXPECT_EQ(executions_, 2);
}

TEST_F(CachedModelTest, AnswersTheSameRequestWithoutAnExecution) {
  MakeLocal();
  EXPECT_EQ(Answer(3), 6);
  EXPECT_EQ(Answer(3), 6);
  EXPECT_EQ(Answer(4), 8);
  EXPECT_EQ(executions_, 2);
  const StatisticsSnapshot s = Statistics();
  EXPECT_EQ(s.success.count, 3u);
  EXPECT_EQ(s.inference_count, 2u) << "does not include cached requests";
  EXPECT_EQ(s.execution_count, 2u);
  EXPECT_EQ(s.cache_hit.count, 1u);
  EXPECT_EQ(s.cache_miss.count, 2u);
  EXPECT_GT(s.cache_hit.ns, 0u);
  EXPECT_GT(s.cache_miss.ns, 0u);
  EXPECT_EQ(model_->statistics().histogram(Phase::kCache).count(), 3u);
  EXPECT_EQ(model_->statistics().histogram(Phase::kRequest).count(), 3u);
  EXPECT_EQ(model_->statistics().histogram(Phase::kCompute).count(), 2u);
}

TEST_F(CachedModelTest, HitsShareTheStoredBytes) {
  MakeLocal();
  Run(3);
  const Response one = Run(3), two = Run(3);
  EXPECT_EQ(one.outputs[0].bytes.data(), two.outputs[0].bytes.data());
}

TEST_F(CachedModelTest, ErrorsAreNotStored) {
  MakeLocal();
  error_ = true;
  EXPECT_FALSE(Run(3).status.ok());
  error_ = false;
  EXPECT_EQ(Answer(3), 6);
  EXPECT_EQ(executions_, 2);
  EXPECT_EQ(Statistics().cache_hit.count, 0u);
  auto wrong = IntCall(3);
  wrong->request.inputs[0].name = "z";
  model_->Submit(wrong);
  EXPECT_FALSE(wrong->Wait().status.ok());
}

TEST_F(CachedModelTest, AnotherVersionDoesNotHit) {
  MakeLocal();
  EXPECT_EQ(Answer(3), 6);
  ModelConfig config = IntModel(4);
  config.response_cache = true;
  model_ = Add(std::move(config), "2");
  EXPECT_EQ(Answer(3), 6);
  EXPECT_EQ(executions_, 2);
}

TEST_F(CachedModelTest, LargeRequestsAreStoredOnAnotherThread) {
  Make({.local = true, .local_bytes = size_t{64} << 20, .redis = {}}, IntModel());
  const auto send = [&] {
    const auto call = IntCall(0, {200'000});
    call->request.inputs[0] = Ints("x", {200'000}, std::vector<int32_t>(200'000, 5));
    model_->Submit(call);
    return call->Wait();
  };
  ASSERT_TRUE(send().status.ok());
  ASSERT_TRUE(Eventually([&] { return cache_->Facts().local.entries == 1; }));
  const Response hit = send();
  EXPECT_EQ(ToInts(hit.outputs[0]), std::vector<int32_t>(200'000, 10));
  EXPECT_EQ(Statistics().cache_hit.count, 1u);
}

TEST_F(CachedModelTest, ARemovedVersionRefusesRequests) {
  MakeLocal();
  scheduler_->Remove(model_, 1000ms);
  const Response refused = Run(3);
  EXPECT_EQ(refused.status.code(), Code::kUnavailable);
  EXPECT_EQ(Statistics().failures[static_cast<size_t>(FailReason::kRejected)], 1u);
}

TEST_F(CachedModelTest, UsesRedis) {
  MakeRedis();
  EXPECT_EQ(Answer(3), 6);
  ASSERT_TRUE(Eventually([&] { return redis_.entries() == 1; }));
  EXPECT_EQ(Answer(3), 6);
  EXPECT_EQ(executions_, 1);
  EXPECT_EQ(Statistics().cache_hit.count, 1u);
}

TEST_F(CachedModelTest, WithoutRedisRequestsAreComputed) {
  MakeRedis();
  redis_.Stop();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Answer(i), 2 * i);
  EXPECT_EQ(executions_, 50);
}

TEST_F(CachedModelTest, RedisStopsUnderLoadAndNothingIsLost) {
  MakeRedis(50ms);
  std::vector<std::shared_ptr<TestCall>> calls;
  const int port = redis_.port();
  for (int i = 0; i < 600; ++i) {
    if (i == 200) redis_.Stop();
    if (i == 400) redis_.Start(port);
    if (i == 100) redis_.delay_ms = 1;
    calls.push_back(IntCall(i % 20));
    model_->Submit(calls.back());
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    const Response response = calls[i]->Wait();
    ASSERT_TRUE(response.status.ok()) << response.status.ToString();
    EXPECT_EQ(ToInts(response.outputs[0])[0], static_cast<int32_t>(i % 20) * 2);
    EXPECT_EQ(calls[i]->count(), 1u);
  }
  EXPECT_EQ(Statistics().success.count, 600u);
}

TEST_F(CachedModelTest, ACancelledSearchIsAnsweredAtOnce) {
  MakeRedis(60'000ms);
  redis_.silent = true;
  const auto call = IntCall(3);
  model_->Submit(call);
  EXPECT_EQ(call->count(), 0u);
  call->Cancel();
  EXPECT_EQ(call->Wait().status.code(), Code::kCancelled);
  EXPECT_EQ(Statistics().failures[static_cast<size_t>(FailReason::kCancelled)], 1u);
  EXPECT_TRUE(scheduler_->Retired(model_));
  EXPECT_EQ(executions_, 0);
}

TEST_F(CachedModelTest, DrainAnswersSearchesThatDoNotEnd) {
  MakeRedis(60'000ms);
  redis_.silent = true;
  const auto call = IntCall(3);
  model_->Submit(call);
  EXPECT_FALSE(scheduler_->Retired(model_));
  scheduler_->Remove(model_, 20ms);
  EXPECT_EQ(call->Wait().status.code(), Code::kUnavailable);
  EXPECT_TRUE(scheduler_->Retired(model_));
}

TEST_F(CachedModelTest, DrainWaitsForSearches) {
  MakeRedis(2000ms);
  redis_.delay_ms = 50;
  const auto call = IntCall(3);
  model_->Submit(call);
  scheduler_->Retire(model_, 10'000ms);
  EXPECT_EQ(ToInts(call->Wait().outputs[0])[0], 6);
}

// An ensemble of one step `m`.
ModelConfig Ensemble(bool cached) {
  ModelConfig config = IntModel(4);
  config.name = "e";
  config.platform = "ensemble";
  config.response_cache = cached;
  config.ensemble.push_back({"m", "", {{"x", "x"}}, {{"y", "y"}}});
  return config;
}

TEST_F(CachedModelTest, AStepOfAnEnsembleIsAnsweredFromItsCache) {
  MakeLocal();
  registry_.Publish("m", {model_});
  auto ensemble = scheduler_->AddEnsemble(Ensemble(false), "1", registry_);
  ASSERT_TRUE(ensemble.ok());
  const auto step = std::exchange(model_, *ensemble);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Answer(i % 2), i % 2 * 2);
  EXPECT_EQ(executions_, 2);
  EXPECT_EQ(step->statistics().Snapshot().cache_hit.count, 8u);
  EXPECT_EQ(Statistics().cache_hit.count, 0u);
}

TEST_F(CachedModelTest, AnEnsembleItselfMayBeCachedAndFollowsItsSteps) {
  MakeLocal();
  registry_.Publish("m", {Add(IntModel(4), "first")});
  auto ensemble = scheduler_->AddEnsemble(Ensemble(true), "1", registry_);
  ASSERT_TRUE(ensemble.ok());
  (*ensemble)->SetIdentity("ensemble");
  model_ = Cached(*ensemble);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Answer(3), 6);
  EXPECT_EQ(executions_, 1);
  registry_.Publish("m", {Add(IntModel(4), "second")});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Answer(3), 6);
  EXPECT_EQ(executions_, 2);
  EXPECT_EQ(Statistics().cache_hit.count, 4u);
}

TEST_F(CachedModelTest, AResponseOfAReplacedStepIsNotStored) {
  MakeLocal();
  const auto first = Add(IntModel(4), "first"), second = Add(IntModel(4), "second");
  registry_.Publish("m", {first});
  auto ensemble = scheduler_->AddEnsemble(Ensemble(true), "1", registry_);
  ASSERT_TRUE(ensemble.ok());
  (*ensemble)->SetIdentity("ensemble");
  model_ = Cached(*ensemble);
  const auto call = IntCall(3);
  call->step_identities = {"second"};  // as if another version had run
  model_->Submit(call);
  EXPECT_TRUE(call->Wait().status.ok());
  EXPECT_EQ(Answer(3), 6);
  EXPECT_EQ(Statistics().cache_hit.count, 0u);
}

TEST_F(CachedModelTest, RefusesEnsemblesWithStepsThatCannotBeCached) {
  MakeLocal();
  const auto refusal = [&](ModelConfig step) {
    step.name = "m";
    auto added = scheduler_->Add(std::move(step), "1", std::make_unique<FakeModel>(Identity));
    EXPECT_TRUE(added.ok()) << added.status().ToString();
    (*added)->SetIdentity("i");
    registry_.Publish("m", {*added});
    auto ensemble = scheduler_->AddEnsemble(Ensemble(true), "1", registry_);
    EXPECT_TRUE(ensemble.ok());
    return CachedModel::Create(*ensemble, cache_, registry_).status().message();
  };
  ModelConfig decoupled = IntModel(4);
  decoupled.decoupled = true;
  EXPECT_EQ(refusal(decoupled),
            "model 'e' cannot use response_cache, because its step 'm' has decoupled responses");
  ModelConfig sequence = IntModel(4);
  sequence.sequence.emplace();
  EXPECT_EQ(refusal(sequence),
            "model 'e' cannot use response_cache, because its step 'm' has sequence_batching");
}

TEST(VersionIdentity, DependsOnTheContentOfFiles) {
  const std::string folder = testing::TempDir() + "tern_identity";
  const auto write = [&](const std::string& text) {
    std::FILE* file = std::fopen((folder + "/model.bin").c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fputs(text.c_str(), file);
    std::fclose(file);
  };
  ASSERT_EQ(std::system(("mkdir -p " + folder).c_str()), 0);
  const auto identity = [&](const ModelConfig& config) { return *ContentIdentity(config, {folder}, ""); };
  const ModelConfig config = IntModel(4);
  write("one");
  const std::string one = identity(config);
  write("two");
  EXPECT_NE(identity(config), one);
  write("one");
  EXPECT_EQ(identity(config), one);
  ModelConfig labelled = config;
  labelled.outputs[0].labels = {"cat"};
  EXPECT_NE(identity(labelled), one);
  EXPECT_NE(UniqueIdentity(), UniqueIdentity());
  EXPECT_FALSE(ContentIdentity(config, {folder + "/none"}, "").ok());
}

}  // namespace
}  // namespace tern::server
