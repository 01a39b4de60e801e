// Checks ensemble_scheduling. The steps must form a graph without cycles.
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

// Marks steps as done in an order of execution. A step that is never done is in a cycle, or needs the outputs
// of a cycle.
Status CheckOrder(const ConfigMessage& message) {
  const auto& steps = message.ensemble_scheduling().step();
  std::set<std::string> ready;
  for (const auto& input : message.input()) ready.insert(input.name());
  std::vector<bool> done(static_cast<size_t>(steps.size()));
  for (bool progress = true; progress;) {
    progress = false;
    for (int i = 0; i < steps.size(); ++i) {
      if (done[static_cast<size_t>(i)]) continue;
      bool runs = true;
      for (const auto& [input, tensor] : steps[i].input_map()) runs &= ready.count(tensor) > 0;
      if (!runs) continue;
      for (const auto& [output, tensor] : steps[i].output_map()) ready.insert(tensor);
      done[static_cast<size_t>(i)] = progress = true;
    }
  }
  for (int i = 0; i < steps.size(); ++i)
    if (!done[static_cast<size_t>(i)])
      return InvalidArgument("step ", i, " of model '", steps[i].model_name(),
                             "' waits for itself: the steps form a cycle");
  return {};
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
  return CheckOrder(message);
}

}  // namespace tern::server
