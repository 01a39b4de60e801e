#include "bindings/python/measure.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "bindings/python/errors.h"
#include "bindings/python/predictor.h"
#include "runtime/cost/cost.h"

namespace tern::python {
namespace {

using Clock = std::chrono::steady_clock;

double Milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

// How long a measurement lasts: `runs` runs. If `runs` is 0, until `seconds` have passed.
struct Limits {
  int64_t warmup, runs;
  double seconds;
};

// Runs a session with bound inputs. Returns the times of the runs in ms, after the warm-up.
Result<std::vector<double>> Time(Session& session, const Limits& limits) {
  constexpr size_t kMaxRuns = 1'000'000;
  for (int64_t i = 0; i < limits.warmup; ++i) TERN_TRY(session.Run());
  std::vector<double> times;
  const auto start = Clock::now();
  const auto more = [&] {
    if (limits.runs) return static_cast<int64_t>(times.size()) < limits.runs;
    return times.empty() || (Milliseconds(start) < limits.seconds * 1e3 && times.size() < kMaxRuns);
  };
  while (more()) {
    const auto from = Clock::now();
    TERN_TRY(session.Run());
    times.push_back(Milliseconds(from));
  }
  return times;
}

// Records the calls and the time of each node in its fastest run.
class Observer : public RunObserver {
 public:
  struct Sum {
    const Node* next = nullptr;
    std::string kernel;
    int depth = 0;
    int64_t run = -1, calls = 0, nanoseconds = 0, best_calls = 0, best = 0;

    void EndRun() {
      if (calls && (!best_calls || nanoseconds < best)) best = nanoseconds, best_calls = calls;
      calls = nanoseconds = 0;
    }
  };

  void OnStep(const StepEvent& event) override {
    Sum& sum = sums_[event.node];
    if (sum.run != run) sum.EndRun();
    sum.run = run;
    sum.next = event.next;
    sum.kernel = event.kernel;
    sum.depth = event.depth;
    ++sum.calls;
    sum.nanoseconds += event.nanoseconds;
  }

  // Returns a list of (name, op, kernel, type of the output, depth, calls, ms, flops, bytes).
  nb::list Take() {
    nb::list rows;
    for (auto& [node, sum] : sums_) {
      sum.EndRun();
      const Node& last = sum.next ? *sum.next : *node;
      const std::string op = sum.next ? StrCat(KindOf(*node), " + ", KindOf(*sum.next)) : KindOf(*node);
      const std::string type = last.outputs().empty() ? "" : last.output(0)->type.ToString();
      const auto cost = sum.next ? CostOfFused(*node, *sum.next) : CostOf(*node);
      const std::string name =
          node->name.empty() && !last.outputs().empty() ? last.output(0)->name : node->name;
      rows.append(nb::make_tuple(name, op, sum.kernel, type, sum.depth, sum.best_calls,
                                 static_cast<double>(sum.best) * 1e-6, cost ? cost->flops : 0.0,
                                 cost ? cost->bytes : 0.0));
    }
    return rows;
  }

  int64_t run = 0;

 private:
  std::map<const Node*, Sum> sums_;
};

nb::object Bench(Predictor& p, nb::handle inputs, int64_t warmup, int64_t runs, double seconds) {
  return p.WithInputs(inputs, [&](Session& session) {
    Result<std::vector<double>> times = [&] {
      const nb::gil_scoped_release release;
      return Guard([&] { return Time(session, {warmup, runs, seconds}); });
    }();
    return nb::cast(Unwrap(std::move(times)));
  });
}

nb::object Profile(Predictor& p, nb::handle inputs, int64_t warmup, int64_t runs) {
  return p.WithInputs(inputs, [&](Session& session) {
    Observer observer;
    std::vector<double> times;
    const Status status = [&] {
      const nb::gil_scoped_release release;
      return Guard([&]() -> Status {
        TERN_TRY(Time(session, {0, std::max<int64_t>(warmup, 1), 0}).TakeStatus());
        session.SetObserver(&observer);
        for (; observer.run < runs; ++observer.run) {
          const auto from = Clock::now();
          TERN_TRY(session.Run());
          times.push_back(Milliseconds(from));
        }
        return {};
      });
    }();
    session.SetObserver(nullptr);
    Check(status);
    return nb::object(nb::make_tuple(observer.Take(), times));
  });
}

}  // namespace

void AddMeasurements(nb::module_& m) {
  m.def("_bench", &Bench, nb::arg("predictor"), nb::arg("inputs"), nb::arg("warmup"), nb::arg("runs"),
        nb::arg("seconds"));
  m.def("_profile", &Profile, nb::arg("predictor"), nb::arg("inputs"), nb::arg("warmup"), nb::arg("runs"));
}

}  // namespace tern::python
