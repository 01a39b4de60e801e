// Helpers for tests of states.
#pragma once
#include <algorithm>
#include <cmath>

#include "runtime/test_support.h"

namespace tern {

// Runs a session and the reference evaluator on the same inputs. The evaluator reads the states that it
// computed in its own previous run.
class SessionAndReference {
 public:
  // `first` contains the states of the first run.
  SessionAndReference(const std::string& text, DatumList first, const SessionOptions& options = {})
      : graph_(ParseOrDie(text)),
        first_(std::move(first)),
        states_(first_),
        session_(SessionOf(graph_, options)) {}

  Session& session() { return *session_; }
  const DatumList& want() const { return want_; }  // all outputs of the last run by the reference evaluator
  void Reset() {
    session_->ResetState();
    states_ = first_;
  }

  // Runs the session and the evaluator, and compares all outputs that are not states. `fed` contains the
  // inputs that are not states.
  void Run(const DatumList& fed) {
    DatumList inputs;
    size_t next = 0;
    for (int i = 0; i < session_->InputCount(); ++i) {
      const bool state = session_->IsStateInput(i);
      inputs.push_back(state ? states_[StateAt(i)] : fed[next++]);
      const Status bound = state ? Status() : session_->BindInput(i, inputs.back());
      ASSERT_TRUE(bound.ok()) << bound.ToString();
    }
    auto want = EvaluateGraph(*graph_, inputs);
    ASSERT_TRUE(want.ok()) << want.status().ToString();
    want_ = std::move(*want);
    const Status status = session_->Run();
    ASSERT_TRUE(status.ok()) << status.ToString();
    for (int i = 0; i < session_->OutputCount(); ++i)
      if (!session_->IsStateOutput(i)) ExpectOutput(i);
    for (size_t s = 0; s < states_.size(); ++s)
      states_[s] = want_[static_cast<size_t>(graph_->states()[s].output)];
  }

 private:
  size_t StateAt(int input) const {
    const auto& states = graph_->states();
    const Value* v = graph_->inputs()[static_cast<size_t>(input)];
    return static_cast<size_t>(std::find_if(states.begin(), states.end(),
                                            [&](const GraphState& state) { return state.input == v; }) -
                               states.begin());
  }

  void ExpectOutput(int i) {
    const Tensor &got = session_->Output(i).tensor, &want = want_[static_cast<size_t>(i)].tensor;
    ASSERT_EQ(got.dims(), want.dims()) << "output " << i;
    const auto a = ToDoubles(got), b = ToDoubles(want);
    for (size_t k = 0; k < b.size(); ++k)
      ASSERT_NEAR(a[k], b[k], 1e-5 * (1 + std::abs(b[k]))) << "output " << i << ", element " << k;
  }

  const std::shared_ptr<const Graph> graph_;
  const DatumList first_;
  DatumList states_;
  DatumList want_;
  std::unique_ptr<Session> session_;
};

}  // namespace tern
