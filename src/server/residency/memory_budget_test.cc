#include "server/residency/memory_budget.h"

#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

// A fake model that reports `bytes` as its memory and runs `run`.
class SizedModel : public FakeModel {
 public:
  SizedModel(size_t bytes, RunFunction run) : FakeModel(std::move(run)), bytes_(bytes) {}
  size_t MemoryBytes() const override { return bytes_; }

 private:
  const size_t bytes_;
};

class Budget : public testing::Test {
 protected:
  struct Model {
    std::shared_ptr<Account> account = std::make_shared<Account>();
    std::shared_ptr<ModelVersion> version;
    std::atomic<int> loads{0};
    std::atomic<bool> fails{false};
    std::atomic<int> delay_ms{0};
    std::atomic<size_t> bytes{100};
  };

  void Start(uint64_t bytes) {
    scheduler_ = Scheduler::Create({2, microseconds(0)});
    budget_ = std::make_unique<MemoryBudget>(BudgetOptions{bytes, 2}, *scheduler_);
  }
  ~Budget() override {
    if (budget_) budget_->Stop();  // loads use the models
    models_.clear();
    budget_.reset();
  }

  Model& Prepare(const std::string& name, size_t bytes, RunFunction run = Identity) {
    Model& model = *models_.emplace_back(std::make_unique<Model>());
    model.bytes = bytes;
    model.account->model = name;
    model.account->version = "1";
    model.account->file_bytes = 10;
    model.account->load = [this, &model, run](bool) -> Result<std::shared_ptr<ModelVersion>> {
      ++model.loads;
      std::this_thread::sleep_for(milliseconds(model.delay_ms.load()));
      if (model.fails) return IoError("the disk is gone");
      return scheduler_->Add(IntModel(), "1", std::make_unique<SizedModel>(model.bytes, run));
    };
    return model;
  }
  Model& Add(const std::string& name, size_t bytes, RunFunction run = Identity) {
    Model& model = Prepare(name, bytes, std::move(run));
    model.version = budget_->AddEvicted(IntModel(), model.account);
    return model;
  }
  std::shared_ptr<TestCall> Submit(Model& model, int32_t value = 1) {
    auto call = IntCall(value, {1});
    model.version->Submit(call);
    return call;
  }
  Response Run(Model& model) { return Submit(model)->Wait(); }
  BudgetCounts Counts() const { return budget_->state().Counts(); }
  bool Resident(const Model& model) const {
    return budget_->state().Note(*model.account).starts_with("resident");
  }

  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<MemoryBudget> budget_;
  std::vector<std::unique_ptr<Model>> models_;
};

TEST_F(Budget, LoadsOnceForManyRequests) {
  Start(1000);
  Model& a = Add("a", 100);
  a.delay_ms = 30;
  EXPECT_EQ(a.version->StateNote(), "not resident: the next request loads it");
  std::vector<std::shared_ptr<TestCall>> calls;
  for (int i = 0; i < 20; ++i) calls.push_back(Submit(a, i));
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(ToInts(calls[static_cast<size_t>(i)]->Wait().outputs.at(0)), std::vector<int32_t>{i});
  EXPECT_EQ(a.loads, 1);
  EXPECT_TRUE(Run(a).status.ok());
  EXPECT_TRUE(Eventually([&] { return Resident(a); }));
  EXPECT_EQ(a.version->StateNote(), "resident: 100 bytes");
  EXPECT_EQ(Counts().misses, 20u);
  EXPECT_EQ(Counts().hits, 1u);
  EXPECT_EQ(budget_->state().waits().count(), 20u);
  EXPECT_EQ(a.version->statistics().Snapshot().success.count, 21u)
      << "the statistics include the requests that waited for the load";
}

TEST_F(Budget, EvictsTheModelOfLeastUse) {
  Start(250);
  Model &a = Add("a", 100), &b = Add("b", 100), &c = Add("c", 100);
  for (Model* model : {&a, &b, &c}) model->delay_ms = 20;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(Run(a).status.ok());
  EXPECT_TRUE(Run(b).status.ok());
  EXPECT_TRUE(Eventually([&] { return Resident(b); }));
  EXPECT_TRUE(Run(c).status.ok());
  EXPECT_TRUE(Eventually([&] { return Resident(a) && !Resident(b) && Resident(c); }));
  EXPECT_TRUE(Eventually([&] { return Counts().resident_bytes == 200; })) << "the memory of b is free";
  EXPECT_EQ(Counts().evictions, 1u);
  EXPECT_TRUE(Run(b).status.ok()) << "it returns";
  EXPECT_EQ(b.loads, 2);
  EXPECT_EQ(a.loads, 1);
}

TEST_F(Budget, CostAndLoadTimeCount) {
  Account cheap, dear;
  for (Account* account : {&cheap, &dear}) {
    account->hits = 10;
    account->Touch(Clock::now());
  }
  cheap.Succeed(1000, milliseconds(10));
  dear.Succeed(1000, milliseconds(500));
  EXPECT_LT(cheap.Value(), dear.Value());
  cheap.Succeed(10, milliseconds(10));
  EXPECT_GT(cheap.Value(), dear.Value()) << "a small model is worth keeping";
  const double before = dear.uses;
  dear.Touch(dear.touched + std::chrono::minutes(1));
  EXPECT_NEAR(dear.uses, before / 2, 1e-9);
}

TEST_F(Budget, ABusyModelAnswersBeforeItsMemoryIsFree) {
  Start(150);
  Gate gate;
  Model& a = Add("a", 100, [&](Batch& batch) {
    gate.Pass();
    return Identity(batch);
  });
  Model& b = Add("b", 100);
  b.account->file_bytes = 50;
  const auto first = Submit(a);
  gate.AwaitWaiting(1);
  const auto second = Submit(b);
  EXPECT_TRUE(Eventually([&] { return Counts().evictions == 1; }));
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_EQ(b.loads, 0) << "there is no room yet";
  gate.Open();
  EXPECT_TRUE(first->Wait().status.ok());
  EXPECT_TRUE(second->Wait().status.ok());
}

TEST_F(Budget, RefusesWhatDoesNotFit) {
  Start(150);
  Model& large = Add("large", 200);
  const Response first = Run(large);
  EXPECT_EQ(first.status.code(), Code::kUnavailable);
  EXPECT_EQ(
      first.status.message(),
      "model 'large' version 1 needs 200 bytes, more than the memory budget of 150 bytes (--memory-budget)");
  EXPECT_EQ(Run(large).status.message(), first.status.message());
  EXPECT_EQ(large.loads, 1) << "its size is known now";
  Model& pinned = Prepare("pinned", 100);
  pinned.account->pinned = true;
  auto added = budget_->AddLoaded(pinned.account);
  ASSERT_TRUE(added.ok());
  pinned.version = *added;
  Model& other = Add("other", 100);
  other.account->file_bytes = 60;
  EXPECT_EQ(
      Run(other).status.message(),
      "model 'other' version 1 needs 120 bytes, but 100 of the 150 bytes of the memory budget are used by pinned "
      "models and 0 by models that are loading or in use");
}

TEST_F(Budget, AVersionThatIsUsedWholeStays) {
  Start(250);
  Model& whole = Prepare("whole", 100);
  auto added = budget_->AddLoaded(whole.account, [](ModelVersion&) { return true; });
  ASSERT_TRUE(added.ok());
  EXPECT_FALSE(std::dynamic_pointer_cast<ResidentVersion>(*added));
  whole.version = std::move(*added);
  EXPECT_EQ(Counts().resident_bytes, 100u);
  Model &a = Add("a", 100), &b = Add("b", 100);
  EXPECT_TRUE(Run(a).status.ok());
  EXPECT_TRUE(Eventually([&] { return Resident(a); }));
  EXPECT_TRUE(Run(b).status.ok());
  EXPECT_TRUE(Run(whole).status.ok());
  EXPECT_EQ(whole.loads, 1);
  EXPECT_TRUE(Eventually([&] { return Counts().evictions == 1 && Counts().resident_bytes == 200; }));
  whole.version = nullptr;
  EXPECT_TRUE(Eventually([&] { return Counts().resident_bytes == 100; })) << "its memory is free";
}

TEST_F(Budget, AFailedLoadAnswersAndIsTriedAgain) {
  Start(150);
  Model& a = Add("a", 100);
  a.fails = true;
  EXPECT_EQ(Run(a).status.message(), "model 'a' version 1 cannot be loaded: the disk is gone");
  EXPECT_EQ(Run(a).status.message(), "model 'a' version 1 cannot be loaded: the disk is gone");
  EXPECT_EQ(a.loads, 1) << "it pauses before it tries again";
  EXPECT_EQ(Counts().resident_bytes, 0u);
  a.fails = false;
  EXPECT_TRUE(Eventually([&] { return Run(a).status.ok(); }));
  EXPECT_EQ(a.loads, 2);
}

TEST_F(Budget, RequestsThatWaitHeedTheirTimeoutAndCancellation) {
  Start(150);
  Model& a = Add("a", 100);
  a.delay_ms = 200;
  const auto brief = IntCall(1, {1});
  brief->request.timeout = milliseconds(10);
  a.version->Submit(brief);
  const auto cancelled = Submit(a), patient = Submit(a);
  cancelled->Cancel();
  EXPECT_EQ(cancelled->Wait().status.code(), Code::kCancelled);
  EXPECT_EQ(brief->Wait().status.message(), "Request timeout expired while model 'm' was being loaded");
  EXPECT_TRUE(patient->Wait().status.ok());
}

TEST_F(Budget, NothingIsLostWhenModelsTakeTurns) {
  Start(250);
  std::vector<Model*> all;
  for (int i = 0; i < 6; ++i) all.push_back(&Add(StrCat("m", i), 100));
  std::atomic<int> ok{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const auto call = Submit(*all[static_cast<size_t>((i * (t + 1) + t) % 6)], i);
        const Response response = call->Wait();
        EXPECT_TRUE(response.status.ok()) << response.status.message();
        ok += response.status.ok();
        EXPECT_EQ(call->count(), 1u);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ok, 180);
  EXPECT_TRUE(Eventually([&] { return Counts().resident_bytes <= 250; }));
  EXPECT_GT(Counts().evictions, 0u);
}

TEST_F(Budget, VersionsMayOutliveTheBudget) {
  Start(150);
  Model& a = Add("a", 100);
  EXPECT_TRUE(Run(a).status.ok());
  Model& b = Add("b", 100);
  budget_->Stop();
  const auto call = Submit(b);
  EXPECT_EQ(call->Wait().status.message(), "Server exiting");
  const std::shared_ptr<ModelVersion> version = a.version;
  models_.clear();
  budget_.reset();
  scheduler_.reset();
  const auto late = IntCall(1, {1});
  version->Submit(late);
  EXPECT_EQ(late->Wait().status.code(), Code::kUnavailable);
}

}  // namespace
}  // namespace tern::server
