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

TEST(Overload, RefusesOnArrivalWhatTheQueueMakesLate) {
  ModelConfig config = IntModel(1);
  config.goal.p99 = milliseconds(100);
  const auto feeder = MakeQueueFeeder(config, 1);
  auto now = Clock::now();
  const auto push = [&] {
    const auto queued = std::make_shared<QueuedCall>();
    queued->call = std::make_shared<TestCall>();
    queued->call->request.arrived = now;
    milliseconds retry_after{0};
    const Status status = feeder->Push(queued, now, retry_after);
    if (!status.ok()) {
      EXPECT_EQ(status.code(), Code::kResourceExhausted);
      EXPECT_GE(retry_after.count(), 1);
    }
    return status.ok();
  };
  std::vector<RejectedCall> rejected;
  const auto run = [&](milliseconds duration) {
    const Pick pick = feeder->Take(0, now, rejected);
    ASSERT_EQ(pick.calls.size(), 1u);
    feeder->OnStart(0, pick, now);
    now += duration;
    feeder->Done(0, pick, 1, duration, {}, now);
  };
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(push());
    run(milliseconds(20));
  }
  int admitted = 0;
  while (admitted < 100 && push()) ++admitted;
  EXPECT_GE(admitted, 3);
  EXPECT_LE(admitted, 5) << "5 executions take 100 ms";
  milliseconds retry_after{0};
  EXPECT_EQ(feeder->CheckLoad(now, now, retry_after).code(), Code::kResourceExhausted);
  while (feeder->size() > 0) run(milliseconds(20));
  EXPECT_TRUE(rejected.empty()) << "what was admitted is served";
  EXPECT_TRUE(feeder->CheckLoad(now, now, retry_after).ok());
}

}  // namespace
}  // namespace tern::server
