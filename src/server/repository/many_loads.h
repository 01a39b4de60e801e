// Loads several models at once.
#pragma once
#include <optional>
#include <set>

#include "server/repository/load_threads.h"
#include "server/repository/loader.h"
#include "server/repository/model_loads.h"

namespace tern::server {

using ModelSources = std::map<std::string, std::vector<ModelSource>>;  // the folders of each name

// The errors of names that are not the name of one folder.
Status AmbiguousModel(const std::string& model, size_t count);
Status MissingModel(const std::string& model);

// Thread-safe. Must outlive the threads.
class ManyLoads {
 public:
  using Patience = std::optional<std::chrono::milliseconds>;  // empty: no limit
  // `requested` returns false for a model that is loaded only because an ensemble needs it.
  ManyLoads(const Loader& loader, ModelLoads& loads, std::function<bool(const ModelSource&)> requested)
      : loader_(loader), loads_(loads), requested_(std::move(requested)) {}

  // Loads models in parallel, then the ensembles among them whose steps are ready. Returns when all have
  // ended. With `patience`, a load that takes longer goes on, and ensembles that need its model are not
  // loaded. The catalogue has the errors.
  void Load(LoadThreads& threads, const ModelSources& sources, const std::vector<std::string>& names,
            Patience patience);
  // Returns whether one of the models is still being loaded.
  bool InFlight(const std::vector<std::string>& models) const;

 private:
  void LoadEnsembles(LoadThreads& threads, const ModelSources& sources, std::vector<std::string> names,
                     Patience patience);
  void Run(LoadThreads& threads, const std::vector<const ModelSource*>& models, Patience patience);
  bool Contains(const std::vector<std::string>& models) const;  // called under the lock

  const Loader& loader_;
  ModelLoads& loads_;
  const std::function<bool(const ModelSource&)> requested_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::set<std::string> in_flight_;
};

}  // namespace tern::server
