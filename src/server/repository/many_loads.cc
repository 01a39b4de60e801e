#include "server/repository/many_loads.h"

#include <algorithm>

namespace tern::server {

Status AmbiguousModel(const std::string& model, size_t count) {
  return InvalidArgument("model '", model, "' is in ", count, " repositories; a name must be unique");
}

Status MissingModel(const std::string& model) {
  return NotFound("failed to load '", model, "', failed to poll from model repository");
}

void ManyLoads::Load(LoadThreads& threads, const ModelSources& sources, const std::vector<std::string>& names,
                     Patience patience) {
  std::vector<const ModelSource*> models;
  std::vector<std::string> ensembles;
  for (const std::string& name : names) {
    const auto found = sources.find(name);
    if (found == sources.end()) {
      loads_.Refuse(name, MissingModel(name));
      continue;
    }
    const auto& list = found->second;
    if (list.size() != 1)
      loads_.Refuse(name, AmbiguousModel(name, list.size()));
    else if (!loader_.StepsOf(list[0], "").empty())
      ensembles.push_back(name);
    else
      models.push_back(&list[0]);
  }
  Run(threads, models, patience);
  LoadEnsembles(threads, sources, std::move(ensembles), patience);
}

// Loads in rounds. An ensemble whose steps include another ensemble waits for a later round. If a round makes
// no progress, all remaining ensembles are loaded, and those with missing steps fail with an error.
void ManyLoads::LoadEnsembles(LoadThreads& threads, const ModelSources& sources,
                              std::vector<std::string> names, Patience patience) {
  for (bool last = false; !names.empty();) {
    std::erase_if(
        names, [&](const std::string& name) { return InFlight(loader_.StepsOf(sources.at(name)[0], "")); });
    std::vector<std::string> waiting;
    for (const std::string& name : names) {
      const ModelSource& source = sources.at(name)[0];
      const auto steps = loader_.StepsOf(source, "");
      const bool waits = !last && std::any_of(steps.begin(), steps.end(), [&](const std::string& step) {
        return step != name && std::find(names.begin(), names.end(), step) != names.end();
      });
      if (waits)
        waiting.push_back(name);
      else
        Run(threads, {&source}, patience);
    }
    last = waiting.size() == names.size();
    names = std::move(waiting);
  }
}

void ManyLoads::Run(LoadThreads& threads, const std::vector<const ModelSource*>& models, Patience patience) {
  std::vector<std::string> names;
  for (const ModelSource* model : models) names.push_back(model->name);
  std::unique_lock<std::mutex> lock(mutex_);
  in_flight_.insert(names.begin(), names.end());
  for (const ModelSource* model : models)
    threads.Post([this, source = *model] {
      (void)loads_.Load(source, {}, requested_(source)).ok();
      const std::lock_guard<std::mutex> guard(mutex_);
      in_flight_.erase(source.name);
      ended_.notify_all();
    });
  const auto ended = [&] { return !Contains(names); };
  if (patience)
    ended_.wait_for(lock, *patience, ended);
  else
    ended_.wait(lock, ended);
}

bool ManyLoads::InFlight(const std::vector<std::string>& models) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Contains(models);
}

bool ManyLoads::Contains(const std::vector<std::string>& models) const {
  return std::any_of(models.begin(), models.end(),
                     [&](const std::string& model) { return in_flight_.count(model) > 0; });
}

}  // namespace tern::server
