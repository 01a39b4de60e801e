#include "compress/quantize/costs.h"

#include <algorithm>
#include <chrono>

#include "runtime/exec/session.h"

namespace tern::compress {
namespace {

constexpr int kTimedRounds = 7;

// Keeps the shortest time of each node by its name.
class LayerTimes : public RunObserver {
 public:
  void OnStep(const StepEvent& event) override {
    if (event.depth == 0) run_[event.node->name] += static_cast<double>(event.nanoseconds) * 1e-6;
  }
  void EndRun(std::map<std::string, double>& best) {
    for (const auto& [name, ms] : run_) {
      const auto [it, added] = best.emplace(name, ms);
      if (!added) it->second = std::min(it->second, ms);
    }
    run_.clear();
  }

 private:
  std::map<std::string, double> run_;
};

size_t TotalOf(const MemoryReport& m) { return m.weights + m.folded + m.packed + m.arena + m.dynamic_peak; }

Status MeasureOnce(Session& session, bool first, RunCost& cost) {
  const auto start = std::chrono::steady_clock::now();
  TERN_TRY(session.Run());
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  cost.ms = first ? ms : std::min(cost.ms, ms);
  LayerTimes times;
  session.SetObserver(&times);
  const Status run = session.Run();
  session.SetObserver(nullptr);
  times.EndRun(cost.layers);
  cost.memory = TotalOf(session.Memory());
  return run;
}

}  // namespace

Result<RunCosts> MeasureCosts(const Graph& before, const Graph& after, const DatumList& inputs, int threads) {
  const SessionOptions options{.threads = threads, .level = Level::kLayout};
  TERN_ASSIGN(const std::unique_ptr<Session> first, Session::Create(before.Clone(), options));
  TERN_ASSIGN(const std::unique_ptr<Session> second, Session::Create(after.Clone(), options));
  for (Session* session : {first.get(), second.get()}) {
    for (size_t i = 0; i < inputs.size(); ++i) TERN_TRY(session->BindInput(static_cast<int>(i), inputs[i]));
    TERN_TRY(session->Run());
  }
  RunCosts costs;
  for (int round = 0; round < kTimedRounds; ++round) {
    TERN_TRY(MeasureOnce(*first, round == 0, costs.before));
    TERN_TRY(MeasureOnce(*second, round == 0, costs.after));
  }
  return costs;
}

}  // namespace tern::compress
