// Implements Predictor::Run, which selects the session, binds inputs and outputs, and applies time limits.
#include <algorithm>

#include "bindings/cpp/profile.h"

namespace tern::v1 {
namespace {

tern::Result<tern::Stop> StopOf(const RunOptions& options) {
  if (options.timeout.count() < 0)
    return tern::InvalidArgument("RunOptions::timeout is ", options.timeout.count(),
                                 " ns, must be 0 (no limit) or more");
  tern::Stop stop;
  stop.cancel = options.cancel;
  stop.deadline = options.deadline;
  const auto now = tern::Stop::Clock::now();
  if (options.timeout.count() && stop.deadline > now && options.timeout < stop.deadline - now)
    stop.deadline = now + options.timeout;
  return stop;
}

}  // namespace

tern::Session& Predictor::State::active() { return variant ? *variant : *session; }

// Chooses the session whose inputs are the model's inputs and the currently fed constants, and copies the
// states of the previous session to it. Allocates nothing if the same constants were fed in the last run.
tern::Status Predictor::State::ChooseSession() {
  const auto differs = [](const Tensor::Impl& c) { return c.fed() != (c.index >= 0); };
  if (std::none_of(constants.begin(), constants.end(), differs)) return {};
  std::vector<std::string> names;
  for (const Tensor::Impl& c : constants)
    if (c.fed()) names.push_back(c.declared->name);
  std::unique_ptr<tern::Session> next;
  if (!names.empty()) {
    TERN_ASSIGN(next, session->Overriding(names));
  }
  tern::Session& other = next ? *next : *session;
  if (&other != &active()) TERN_TRY(other.CopyStates(active()));
  variant = std::move(next);
  int index = session->InputCount();
  for (Tensor::Impl& c : constants) c.index = c.fed() ? index++ : -1;
  for (auto* handles : {&inputs, &outputs, &constants})
    for (Tensor::Impl& handle : *handles) handle.changed = true;
  return {};
}

// Binds the inputs and outputs that changed since the last run.
tern::Status Predictor::State::BindAll() {
  for (auto* handles : {&inputs, &constants})
    for (Tensor::Impl& input : *handles) {
      if (!input.changed) continue;
      if (input.index >= 0) TERN_TRY(active().BindInput(input.index, input.value));
      input.changed = false;
    }
  for (Tensor::Impl& output : outputs) {
    if (!output.changed) continue;
    TERN_TRY(active().BindOutput(output.index, output.value.tensor));
    output.changed = false;
  }
  return {};
}

tern::Status Predictor::State::RunActive() {
  if (!recorder) return active().Run();
  const auto start = std::chrono::steady_clock::now();
  active().SetObserver(recorder.get());
  tern::Status status = active().Run();
  active().SetObserver(nullptr);
  recorder->EndRun(std::chrono::steady_clock::now() - start, status.ok());
  return status;
}

tern::Status Predictor::State::Run(const RunOptions& options) {
  const Hold hold(*this);
  TERN_TRY(hold.status());
  has_run = false;
  TERN_ASSIGN(const tern::Stop stop, StopOf(options));
  session->SetStop(stop);
  TERN_TRY(tern::Guard([&] { return ChooseSession(); }));
  TERN_TRY(tern::Guard([&] { return BindAll(); }));
  active().SetStop(stop);
  TERN_TRY(RunActive());
  has_run = true;
  return {};
}

Status Predictor::Run() { return Run(RunOptions()); }

Status Predictor::Run(const RunOptions& options) {
  if (!state_) return Convert(MovedFrom());
  tern::Status status = state_->Run(options);
  if (status.ok()) return {};
  return Protect([&]() -> tern::Status {
    if (options.tag.empty()) return std::move(status);
    return std::move(status).While(tern::StrCat("run '", options.tag, "'"));
  });
}

}  // namespace tern::v1
