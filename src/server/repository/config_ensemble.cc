// Checks ensemble_scheduling. The steps must form a graph without cycles.
#include <algorithm>
#include <set>

#include "model_config.pb.h"
#include "server/repository/config.h"

namespace tern::server {
namespace {

using Step = inference::ModelEnsembling::Step;

Status CheckStep(const ConfigMessage& message, const Step& step, int index) {
  if (step.model_name().empty()) return InvalidArgument("step ", index, " has no model_name");
  TERN_TRY(CheckModelName(step.model_name()));
  if (step.model_name() == message.name()) return InvalidArgument("step ", index, " is the ensemble itself");
  if (step.model_version() < -1)
    return InvalidArgument("step ", index, " has model_version ", step.model_version(),
                           "; it must be 1 or more, or -1 for the latest");
  if (step.input_map().empty()) return InvalidArgument("step ", index, " has no input_map");
  if (step.output_map().empty()) return InvalidArgument("step ", index, " has no output_map");
  for (const auto* map : {&step.input_map(), &step.output_map()})
    for (const auto& [tensor, name] : *map)
      if (tensor.empty() || name.empty())
        return InvalidArgument("step ", index, " maps '", tensor, "' to '", name,
                               "'; names must not be empty");
  return {};
}

// Sets `writers` to the step that writes each tensor, or to -1 for tensors of the request.
Status FindWriters(const ConfigMessage& message, std::map<std::string, int>& writers) {
  for (const auto& input : message.input()) writers[input.name()] = -1;
  const auto& steps = message.ensemble_scheduling().step();
  for (int i = 0; i < steps.size(); ++i) {
    TERN_TRY(CheckStep(message, steps[i], i));
    for (const auto& [output, tensor] : steps[i].output_map())
      if (!writers.emplace(tensor, i).second)
        return InvalidArgument("ensemble tensor '", tensor, "' is written more than once, last by step ", i);
  }
  return {};
}

// Returns the first step that is not done and writes an input of this step. There is one if this step is not
// done.
int WaitsFor(const Step& step, const std::map<std::string, int>& writers, const std::vector<bool>& done) {
  int first = -1;
  for (const auto& [input, tensor] : step.input_map()) {
    const int writer = writers.at(tensor);
    if (writer >= 0 && !done[static_cast<size_t>(writer)] && (first < 0 || writer < first)) first = writer;
  }
  return first;
}

// `step` is not done, so it is in a cycle or waits for a cycle. Follows each step to one that it waits for,
// until a step occurs again.
Status CycleError(const ConfigMessage& message, const std::map<std::string, int>& writers,
                  const std::vector<bool>& done, int step) {
  const auto& steps = message.ensemble_scheduling().step();
  std::vector<int> path;
  while (std::find(path.begin(), path.end(), step) == path.end()) {
    path.push_back(step);
    step = WaitsFor(steps[step], writers, done);
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), step));
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
  std::string text = StrCat("step ", path[0], " of model '", steps[path[0]].model_name(), "'");
  for (size_t i = 1; i < path.size(); ++i)
    text += StrCat(" waits for step ", path[i], " of model '", steps[path[i]].model_name(), "', which");
  return InvalidArgument("the steps form a cycle: ", text, " waits for ",
                         path.size() == 1 ? "itself" : StrCat("step ", path[0]));
}

// Checks that an order of execution exists, by marking steps as done in that order.
Status CheckOrder(const ConfigMessage& message, const std::map<std::string, int>& writers) {
  const auto& steps = message.ensemble_scheduling().step();
  std::vector<bool> done(static_cast<size_t>(steps.size()));
  for (bool progress = true; progress;) {
    progress = false;
    for (int i = 0; i < steps.size(); ++i) {
      if (done[static_cast<size_t>(i)] || WaitsFor(steps[i], writers, done) >= 0) continue;
      done[static_cast<size_t>(i)] = progress = true;
    }
  }
  const auto left = std::find(done.begin(), done.end(), false);
  if (left == done.end()) return {};
  return CycleError(message, writers, done, static_cast<int>(left - done.begin()));
}

Status CheckReaders(const ConfigMessage& message, const std::map<std::string, int>& writers) {
  std::set<std::string> read;
  const auto& steps = message.ensemble_scheduling().step();
  for (int i = 0; i < steps.size(); ++i)
    for (const auto& [input, tensor] : steps[i].input_map()) {
      read.insert(tensor);
      if (!writers.count(tensor))
        return InvalidArgument("step ", i, " reads ensemble tensor '", tensor,
                               "', which neither an input nor a step gives");
    }
  for (const auto& input : message.input())
    if (!read.count(input.name()))
      return InvalidArgument("no step reads the ensemble's input '", input.name(), "'");
  for (const auto& output : message.output())
    if (!writers.count(output.name()))
      return InvalidArgument("no step writes the ensemble's output '", output.name(), "'");
  return {};
}

}  // namespace

Status CheckEnsemble(const ConfigMessage& message) {
  if (message.ensemble_scheduling().step().empty()) return InvalidArgument("ensemble_scheduling has no step");
  if (message.input().empty()) return InvalidArgument("an ensemble needs inputs");
  if (message.output().empty()) return InvalidArgument("an ensemble needs outputs");
  std::map<std::string, int> writers;
  TERN_TRY(FindWriters(message, writers));
  TERN_TRY(CheckReaders(message, writers));
  return CheckOrder(message, writers);
}

}  // namespace tern::server
