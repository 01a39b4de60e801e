// Tests a model with a latency goal under overload, in virtual time.
#include "server/scheduler/simulation.h"

namespace tern::server {
namespace {

// Factors with the mean 1. One execution of 20 takes up to 4 times as long as the others in `Spikes`.
double Even(std::mt19937&) { return 1; }
double Noise(std::mt19937& random) { return std::lognormal_distribution<double>(-0.043, 0.294)(random); }
double Spikes(std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  return uniform(random) < 0.05 ? 1 + 3 * uniform(random) : 0.92;
}

struct Model {
  const char* name;
  double (*cost)(int64_t batch);  // ms
  int max_batch, instances, goal_ms;
  double capacity() const {  // requests per second
    double best = 0;
    for (int64_t b = 1; b <= max_batch; ++b) best = std::max(best, static_cast<double>(b) / cost(b));
    return best * 1e3 * instances;
  }
};
const Model kModels[] = {
    {"batches pay", [](int64_t b) { return 16 + 2 * static_cast<double>(b); }, 16, 1, 200},
    {"two instances", [](int64_t b) { return 16 + 2 * static_cast<double>(b); }, 16, 2, 200},
    {"batches do not pay", [](int64_t b) { return 16 * static_cast<double>(b); }, 8, 1, 160},
    {"batches are worse", [](int64_t b) { return 16 * std::pow(static_cast<double>(b), 1.2); }, 8, 1, 160},
    {"the goal is six executions", [](int64_t b) { return 16 * static_cast<double>(b); }, 8, 1, 100},
};
struct Variation {
  const char* name;
  double (*factor)(std::mt19937&);
  double max_late;  // fraction of the answers
};
const Variation kVariations[] = {{"even", Even, 0.01}, {"noise", Noise, 0.02}, {"spikes", Spikes, 0.03}};

Simulation::Cost CostOf(const Model& model, double (*factor)(std::mt19937&), double scale = 1) {
  return [&model, factor, scale](int64_t batch, std::mt19937& random) {
    return scale * model.cost(batch) * factor(random);
  };
}

Simulation WithGoal(const Model& model, double (*factor)(std::mt19937&) = Even) {
  ModelConfig config = IntModel(model.max_batch);
  config.instances = model.instances;
  config.goal.p99 = milliseconds(model.goal_ms);
  return Simulation(config, milliseconds(model.goal_ms), CostOf(model, factor));
}

Simulation WithoutBatching(const Model& model, double (*factor)(std::mt19937&)) {
  ModelConfig config = IntModel(model.max_batch);
  config.instances = model.instances;
  return Simulation(config, milliseconds(model.goal_ms), CostOf(model, factor));
}

TEST(Overload, KeepsNineTenthsOfThePeak) {
  for (const Model& model : kModels) {
    for (const Variation& variation : kVariations) {
      SCOPED_TRACE(std::string(model.name) + ", " + variation.name);
      double peak = 0;
      std::vector<SimulatedOutcome> outcomes;
      for (const double load : {1.0, 3.0, 10.0}) {
        outcomes.push_back(WithGoal(model, variation.factor).Run(load * model.capacity(), 30));
        peak = std::max(peak, outcomes.back().goodput);
      }
      if (variation.factor == Even) peak = model.capacity();
      for (size_t i = 1; i < outcomes.size(); ++i) {
        const SimulatedOutcome& outcome = outcomes[i];
        EXPECT_GE(outcome.goodput, 0.9 * peak) << i;
        EXPECT_LE(outcome.late, variation.max_late * static_cast<double>(outcome.answers)) << i;
        // The excess is refused on arrival.
        EXPECT_LE(outcome.dropped, 0.01 * static_cast<double>(outcome.refused)) << i;
      }
    }
  }
}

TEST(Overload, IsNoWorseThanNoBatchingBelowTheCapacity) {
  for (const Model& model : kModels) {
    for (const Variation& variation : kVariations) {
      SCOPED_TRACE(std::string(model.name) + ", " + variation.name);
      const auto ours = WithGoal(model, variation.factor).Run(0.8 * model.capacity(), 60);
      const auto none = WithoutBatching(model, variation.factor).Run(0.8 * model.capacity(), 60);
      EXPECT_GE(ours.goodput, 0.98 * none.goodput);
      EXPECT_LE(ours.p99_ms, model.goal_ms);
    }
  }
}

TEST(Overload, EndsWithTheStep) {
  for (const Model& model : kModels) {
    for (const Variation& variation : kVariations) {
      SCOPED_TRACE(std::string(model.name) + ", " + variation.name);
      Simulation simulation = WithGoal(model, variation.factor);
      const double before = simulation.Run(0.8 * model.capacity(), 20).goodput;
      simulation.Run(10 * model.capacity(), 10);
      simulation.Run(0.8 * model.capacity(), 2);
      const auto after = simulation.Run(0.8 * model.capacity(), 20);
      EXPECT_LE(after.p99_ms, model.goal_ms);
      EXPECT_GE(after.goodput, 0.9 * before);
    }
  }
}

TEST(Overload, RunsRequestsAloneIfBatchesDoNotPay) {
  for (const Model& model : {kModels[2], kModels[3], kModels[4]}) {
    const auto outcome = WithGoal(model).Run(3 * model.capacity(), 30);
    EXPECT_LE(outcome.mean_batch, 1.05) << model.name;
  }
  EXPECT_GE(WithGoal(kModels[0]).Run(3 * kModels[0].capacity(), 30).mean_batch, 14);
}

TEST(Overload, FollowsAModelThatBecomesSlowerAndFaster) {
  for (const Model& model : {kModels[2], kModels[4]}) {
    SCOPED_TRACE(model.name);
    Simulation simulation = WithGoal(model);
    simulation.Run(3 * model.capacity(), 5);
    simulation.SetCost(CostOf(model, Even, 2.5));
    simulation.Run(3 * model.capacity(), 2);
    const auto slower = simulation.Run(3 * model.capacity(), 10);
    EXPECT_GE(slower.goodput, 0.9 * model.capacity() / 2.5);
    EXPECT_LE(slower.late, 0.01 * static_cast<double>(slower.answers));
    simulation.SetCost(CostOf(model, Even));
    simulation.Run(3 * model.capacity(), 2);
    EXPECT_GE(simulation.Run(3 * model.capacity(), 10).goodput, 0.9 * model.capacity());
    simulation.SetCost(CostOf(model, Even, 0.2));
    simulation.Run(15 * model.capacity(), 2);
    EXPECT_GE(simulation.Run(15 * model.capacity(), 10).goodput, 0.9 * 5 * model.capacity());
  }
}

TEST(Overload, CountsTheTimeThatOtherModelsTake) {
  for (const int index : {0, 2}) {
    const Model& model = kModels[index];
    SCOPED_TRACE(model.name);
    const int batch = index == 0 ? model.max_batch : 1;  // the batch size that the model uses
    double peak = 0;
    std::vector<SimulatedOutcome> outcomes;
    for (const double load : {0.5, 1.5, 5.0}) {
      Simulation simulation = WithGoal(model);
      simulation.Run(load * model.capacity(), 10);
      // From now on another model runs as long as this one, so half of the capacity is left.
      simulation.SetThreadDelay(model.cost(batch));
      simulation.Run(load * model.capacity(), 2);
      outcomes.push_back(simulation.Run(load * model.capacity(), 20));
      peak = std::max(peak, outcomes.back().goodput);
    }
    EXPECT_GE(peak, 0.85 * model.capacity() / 2);
    for (size_t i = 1; i < outcomes.size(); ++i) {
      EXPECT_GE(outcomes[i].goodput, 0.9 * peak);
      EXPECT_LE(outcomes[i].late, 0.01 * static_cast<double>(outcomes[i].answers));
      EXPECT_LE(outcomes[i].dropped, 0.01 * static_cast<double>(outcomes[i].refused));
    }
  }
}

TEST(Overload, ForgetsASlowTime) {
  for (const Model& model : {kModels[2], kModels[4]}) {
    SCOPED_TRACE(model.name);
    Simulation simulation = WithGoal(model);
    const double before = simulation.Run(0.8 * model.capacity(), 30).goodput;
    simulation.SetCost(CostOf(model, Even, 5));
    simulation.Run(0.8 * model.capacity(), 10);
    simulation.SetCost(CostOf(model, Even));
    simulation.Run(0.8 * model.capacity(), 2);
    EXPECT_GE(simulation.Run(0.8 * model.capacity(), 8).goodput, 0.9 * before);
  }
}

// A model with one instance, whose requests the test submits and executes one by one.
class Steps {
 public:
  explicit Steps(milliseconds goal) {
    config_.goal.p99 = goal;
    feeder_ = MakeQueueFeeder(config_, 1);
  }
  // `upload` is the time since the first byte of the request.
  bool Push(milliseconds upload = milliseconds(0)) {
    const auto queued = std::make_shared<QueuedCall>();
    queued->call = std::make_shared<TestCall>();
    queued->call->request.arrived = now_ - upload;
    milliseconds retry_after{0};
    const Status status = feeder_->Push(queued, now_, retry_after);
    const bool refused = status.code() == Code::kResourceExhausted && retry_after.count() >= 1;
    EXPECT_TRUE(status.ok() || refused) << status.ToString();
    expected_in_time_ = queued->in_time;
    return status.ok();
  }
  bool expected_in_time() const { return expected_in_time_; }  // of the last request
  // Whether a request is refused before it is decoded.
  bool RefusesAll() {
    milliseconds retry_after{0};
    return !feeder_->CheckLoad(now_, 0, now_, retry_after).ok();
  }
  void Start() {
    pick_ = feeder_->Take(0, now_, rejected);
    EXPECT_EQ(pick_.calls.size(), 1u);
    start_ = now_;
    feeder_->OnStart(0, pick_, now_);
  }
  void Wait(milliseconds time) { now_ += time; }
  void End() { feeder_->Done(0, pick_, 1, now_ - start_, {}, now_); }
  void Run(milliseconds duration) {
    Start();
    Wait(duration);
    End();
  }
  // Submits requests until one is refused, and executes them. Returns their number.
  int Fill(milliseconds duration) {
    int admitted = 0;
    while (admitted < 100 && Push()) ++admitted;
    while (waiting() > 0) Run(duration);
    return admitted;
  }
  // Takes requests that are late already. None of them is executed.
  void DropLate() { EXPECT_TRUE(feeder_->Take(0, now_, rejected).empty()); }
  size_t waiting() const { return feeder_->size(); }

  std::vector<RejectedCall> rejected;

 private:
  ModelConfig config_ = IntModel(1);
  std::unique_ptr<Feeder> feeder_;
  Clock::time_point now_ = Clock::now(), start_;
  Pick pick_;
  bool expected_in_time_ = false;
};

TEST(Overload, RefusesBehindAnExecutionThatTakesTooLong) {
  Steps model(milliseconds(25));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(model.Push()) << "the model is idle";
    model.Run(milliseconds(10));
  }
  ASSERT_TRUE(model.Push());
  model.Start();
  model.Wait(milliseconds(100));
  EXPECT_FALSE(model.Push()) << "10 ms were expected, but it still runs";
  model.End();
  EXPECT_TRUE(model.Push());
  EXPECT_TRUE(model.rejected.empty());
}

// A request whose upload takes nearly as long as the goal is late however well the plan predicts.
TEST(Overload, SlowUploadsDoNotMakeThePlanCautious) {
  Steps model(milliseconds(100));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(model.Push());
    model.Run(milliseconds(i % 8 == 0 ? 14 : 10));  // the predictions have errors, so there is a margin
  }
  const int before = model.Fill(milliseconds(10));
  EXPECT_GE(before, 6);
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(model.Push(milliseconds(300))) << "the model is idle";
    model.DropLate();
    ASSERT_TRUE(model.Push(milliseconds(88)));
    model.Run(milliseconds(i % 8 == 0 ? 14 : 10));
    ASSERT_TRUE(model.Push());
    model.Run(milliseconds(i % 8 == 1 ? 14 : 10));
  }
  EXPECT_EQ(model.rejected.size(), 60u);
  EXPECT_GE(model.Fill(milliseconds(10)), before);
}

// The margin may be so large that even an idle model expects to be late.
TEST(Overload, AnIdleModelThatAnswersInTimeLosesItsCaution) {
  Steps model(milliseconds(100));
  const auto answer = [&](int count, milliseconds fast, milliseconds slow) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(model.Push()) << "the model is idle";
      model.Run(i % 8 == 0 ? slow : fast);
    }
  };
  answer(40, milliseconds(30), milliseconds(40));
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(model.Push());
    EXPECT_TRUE(model.expected_in_time());
    model.Wait(milliseconds(200));
    model.DropLate();
  }
  // The model is slower now. The plan forgets the errors of the time before, but not its caution.
  answer(160, milliseconds(76), milliseconds(94));
  EXPECT_FALSE(model.expected_in_time());
  answer(4000, milliseconds(76), milliseconds(94));
  EXPECT_TRUE(model.expected_in_time());
}

TEST(Overload, RefusesOnArrivalWhatTheQueueMakesLate) {
  Steps model(milliseconds(100));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(model.Push());
    model.Run(milliseconds(20));
  }
  int admitted = 0;
  while (admitted < 100 && model.Push()) ++admitted;
  EXPECT_GE(admitted, 3);
  EXPECT_LE(admitted, 5) << "5 executions take 100 ms";
  EXPECT_TRUE(model.RefusesAll());
  while (model.waiting() > 0) model.Run(milliseconds(20));
  EXPECT_TRUE(model.rejected.empty()) << "what was admitted is served";
  EXPECT_FALSE(model.RefusesAll());
}

}  // namespace
}  // namespace tern::server
