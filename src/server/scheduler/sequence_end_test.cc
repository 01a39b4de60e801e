// Back ends that keep something per sequence are told of sequences that end without their knowledge.
#include <algorithm>

#include "server/scheduler/feeder.h"
#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

ModelConfig SequenceModel(bool iterative) {
  ModelConfig config = IntModel(1);
  config.inputs[0].dims = config.outputs[0].dims = {1};
  config.sequence.emplace();
  config.sequence->strategy = SequenceStrategy::kOldest;
  config.sequence->max_candidates = 4;
  config.sequence->max_idle = iterative ? milliseconds(0) : milliseconds(20);
  config.sequence->iterative = iterative;
  return config;
}

// Executes requests with x = 0 once, and others again and again.
Result<std::vector<WireTensor>> Endless(Batch& batch) {
  if (ToInts(batch.inputs[0]).at(0) != 0) batch.again.push_back({0, false});
  return Identity(batch);
}

std::shared_ptr<TestCall> Named(const std::string& id, int32_t x) {
  auto call = IntCall(x);
  call->request.sequence = {id, true, true, false};
  return call;
}

// Records the executions and the ends, as "run 1" and "end 1".
class EndRecorder {
 public:
  explicit EndRecorder(ModelConfig config, RunFunction run = Endless) {
    auto model = std::make_unique<FakeModel>([this, run = std::move(run)](Batch& batch) {
      Add("run " + batch.requests->at(0)->sequence.id);
      return run(batch);
    });
    model->end_sequence = [this](const std::string& id) { Add("end " + id); };
    SchedulerOptions options;
    options.threads = 2;
    scheduler_ = Scheduler::Create(options);
    auto added = scheduler_->Add(std::move(config), "1", std::move(model));
    EXPECT_TRUE(added.ok()) << added.status().ToString();
    version = *added;
  }
  ~EndRecorder() { scheduler_.reset(); }

  std::vector<std::string> events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  int64_t Count(const std::string& event) {
    const auto all = events();
    return std::count(all.begin(), all.end(), event);
  }
  Response Run(const std::shared_ptr<TestCall>& call) {
    version->Submit(call);
    return call->Wait();
  }

  std::shared_ptr<ModelVersion> version;

 private:
  void Add(const std::string& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
  }

  std::mutex mutex_;
  std::vector<std::string> events_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST(SequenceEnd, CancelledIterationsAreTold) {
  const auto call = Named("7", 1);
  std::atomic<int> runs{0};
  EndRecorder model(SequenceModel(true), [&](Batch& batch) {
    if (++runs == 3) call->Cancel();
    return Endless(batch);
  });
  EXPECT_EQ(model.Run(call).status.code(), Code::kCancelled);
  EXPECT_TRUE(Eventually([&] { return model.Count("end 7") == 1; }));
  EXPECT_EQ(model.events(), (std::vector<std::string>{"run 7", "run 7", "run 7", "end 7"}));
}

// The request waits for its next iteration while the instance runs another one.
TEST(SequenceEnd, RequestsThatAreCancelledInTheQueueAreTold) {
  Gate gate;
  EndRecorder model(SequenceModel(true), [&](Batch& batch) {
    if (ToInts(batch.inputs[0]).at(0) == 0) gate.Pass();
    return Endless(batch);
  });
  const auto call = Named("7", 1), other = Named("8", 0);
  model.version->Submit(call);
  EXPECT_TRUE(Eventually([&] { return model.Count("run 7") > 0; }));
  model.version->Submit(other);
  gate.AwaitWaiting(1);
  call->Cancel();
  EXPECT_EQ(call->Wait().status.code(), Code::kCancelled);
  EXPECT_EQ(model.Count("end 7"), 0) << "the instance is busy";
  gate.Open();
  other->Wait();
  EXPECT_TRUE(Eventually([&] { return model.Count("end 7") == 1; }));
  EXPECT_EQ(model.Count("end 8"), 0) << "the back end knows that it ended";
}

TEST(SequenceEnd, FailedIterationsAreTold) {
  EndRecorder model(SequenceModel(true), [&](Batch& batch) -> Result<std::vector<WireTensor>> {
    if (ToInts(batch.inputs[0]).at(0) == 2) return Status(Code::kInternal, "broken");
    batch.again.push_back({5, false});  // there is no such row
    return Identity(batch);
  });
  EXPECT_FALSE(model.Run(Named("1", 1)).status.ok());
  EXPECT_FALSE(model.Run(Named("2", 2)).status.ok());
  EXPECT_TRUE(Eventually([&] { return model.Count("end 1") + model.Count("end 2") == 2; }));
}

// The back end is told before it gets the next request with the same id.
TEST(SequenceEnd, TheEndComesBeforeTheNextRequestOfTheId) {
  const auto first = Named("7", 1), second = Named("7", 0);
  std::atomic<int> runs{0};
  EndRecorder* recorder = nullptr;
  EndRecorder model(SequenceModel(true), [&](Batch& batch) {
    if (++runs == 2) {
      recorder->version->Submit(second);
      first->Cancel();
    }
    return Endless(batch);
  });
  recorder = &model;
  model.version->Submit(first);
  EXPECT_EQ(first->Wait().status.code(), Code::kCancelled);
  EXPECT_TRUE(second->Wait().status.ok());
  EXPECT_EQ(model.events(), (std::vector<std::string>{"run 7", "run 7", "end 7", "run 7"}));
  EXPECT_TRUE(model.Run(Named("7", 0)).status.ok()) << "the slot is free";
}

TEST(SequenceEnd, IdleSequencesAreTold) {
  EndRecorder model(SequenceModel(false), Identity);
  EXPECT_TRUE(model.Run(Named("5", 1)).status.ok());
  EXPECT_TRUE(Eventually([&] { return model.Count("end 5") == 1; }));
  auto late = Named("5", 1);
  late->request.sequence.start = false;
  EXPECT_FALSE(model.Run(late).status.ok()) << "the sequence ended";
  auto only = Named("6", 1);
  only->request.sequence.end = true;
  EXPECT_TRUE(model.Run(only).status.ok());
  EXPECT_TRUE(model.Run(Named("9", 1)).status.ok());
  EXPECT_TRUE(Eventually([&] { return model.Count("end 9") == 1; }));
  EXPECT_EQ(model.Count("end 6"), 0) << "the back end saw its END flag";
}

// The feeder of a model with two instances. The test executes its requests.
class EndSteps {
 public:
  EndSteps() {
    config_.instances = 2;
    auto feeder = MakeSequenceFeeder(config_, true);
    EXPECT_TRUE(feeder.ok()) << feeder.status().ToString();
    feeder_ = std::move(*feeder);
  }
  QueuedCallPtr Push(const std::string& id, bool end = false, bool numeric = true) {
    const auto queued = std::make_shared<QueuedCall>();
    queued->call = Named(id, 1);
    queued->call->request.sequence.end = end;
    queued->call->request.sequence.numeric = numeric;
    milliseconds retry_after{0};
    const Status status = feeder_->Push(queued, now_, retry_after);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return queued;
  }
  bool Erase(const QueuedCallPtr& queued) { return feeder_->Erase(*queued); }
  Pick Take(int instance) { return feeder_->Take(instance, now_, rejected_); }
  void Done(int instance, const Pick& pick) { feeder_->Done(instance, pick, 1, {}, {}, now_); }
  void Run(int instance) { Done(instance, Take(instance)); }
  void Expire() {
    now_ += config_.sequence->max_idle;
    feeder_->Expire(now_, rejected_);
  }
  // Starts to tell instance 1 of the end of sequence 7. Instance 0 is free.
  Pick TellEndOf7() {
    Push("6", true);
    Push("7");
    Run(0);
    Run(1);
    Expire();
    Pick pick = Take(1);
    EXPECT_TRUE(pick.calls.empty());
    EXPECT_EQ(pick.ended.size(), 1u);
    return pick;
  }

 private:
  ModelConfig config_ = SequenceModel(false);
  std::unique_ptr<Feeder> feeder_;
  Clock::time_point now_ = Clock::now();
  std::vector<RejectedCall> rejected_;
};

TEST(SequenceEnd, ACancelledStartDoesNotFreeAnIdWhoseEndIsBeingTold) {
  EndSteps model;
  const Pick telling = model.TellEndOf7();
  EXPECT_TRUE(model.Erase(model.Push("7")));
  const auto next = model.Push("7");
  EXPECT_TRUE(model.Take(0).empty()) << "instance 1 was not told yet";
  model.Done(1, telling);
  EXPECT_EQ(model.Take(1).calls, std::vector<QueuedCallPtr>{next});
}

TEST(SequenceEnd, AnIdWhoseEndIsBeingToldDoesNotExpire) {
  EndSteps model;
  const Pick telling = model.TellEndOf7();
  model.Push("5", true);
  model.Run(0);
  model.Expire();
  const auto next = model.Push("7");
  EXPECT_TRUE(model.Take(0).empty()) << "instance 1 was not told yet";
  model.Done(1, telling);
  EXPECT_EQ(model.Take(1).calls, std::vector<QueuedCallPtr>{next});
}

// A back end sees the same text for both.
TEST(SequenceEnd, ANumberAndAStringOfTheSameDigitsAreOneId) {
  EndSteps model;
  const auto number = model.Push("7"), text = model.Push("7", true, false);
  const Pick first = model.Take(0);
  EXPECT_EQ(first.calls, std::vector<QueuedCallPtr>{number});
  EXPECT_TRUE(model.Take(1).empty());
  model.Done(0, first);
  EXPECT_EQ(model.Take(0).calls, std::vector<QueuedCallPtr>{text});
}

// The next sequence may get any instance.
TEST(SequenceEnd, AnIdIsFreeAfterItsEndWasTold) {
  EndSteps model;
  const Pick telling = model.TellEndOf7();
  EXPECT_TRUE(model.Erase(model.Push("7")));
  model.Done(1, telling);
  const auto next = model.Push("7");
  EXPECT_EQ(model.Take(0).calls, std::vector<QueuedCallPtr>{next});
}

}  // namespace
}  // namespace tern::server
