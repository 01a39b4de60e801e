// What the repository knows about each model: the states that the index shows, live versions and
// fingerprints.
#pragma once
#include <optional>
#include <set>

#include "server/repository/loader.h"
#include "server/repository/temporary.h"

namespace tern::server {

struct CatalogueEntry {
  struct Version {
    ModelState state = ModelState::kUnknown;
    std::string reason;
  };
  struct Less {
    bool operator()(const std::string& a, const std::string& b) const { return VersionLess(a, b); }
  };
  std::map<std::string, Version, Less> versions;
  std::string error;  // of the last load; empty: none
  LiveVersions live;
  // The versions that were ended, one list per load or unload. They exist while requests use them.
  std::vector<std::vector<std::weak_ptr<ModelVersion>>> ended;
  std::string fingerprint;                  // of the files at the last load
  std::vector<std::string> steps;           // of an ensemble
  bool requested = false;                   // loaded by name, not only because an ensemble needs it
  std::shared_ptr<TemporaryFolder> folder;  // of the files that a load request carried
  std::string config;                       // JSON of the load request; empty: none
  // An ensemble that was unloaded because one of its steps was unloaded. It is loaded again when all its
  // steps are loaded.
  struct Suspended {
    std::vector<std::string> steps;
    std::string config;
    bool requested = false;
  };
  std::optional<Suspended> suspended;
};

// Thread-safe.
class Catalogue {
 public:
  // `existing` has the names of all models in the repository. A model that was never loaded gets an entry
  // without a version.
  std::vector<IndexEntry> Index(const std::set<std::string>& existing, bool ready_only) const;

  // Calls `change` with an entry while the lock is held. `change` may read or change the entry. It must not
  // block.
  template <class F> auto With(const std::string& model, F&& change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return change(entries_[model]);
  }
  std::vector<std::string> Models() const;
  // Returns why the last loads of these models failed, a line for each, or success if none of them failed.
  Status Failures(const std::function<bool(const std::string& model)>& of) const;
  bool Live(const std::string& model) const;
  // Returns the ensembles with live versions that have this model as a step.
  std::vector<std::string> Dependents(const std::string& model) const;
  // Returns the suspended ensembles that have this model as a step.
  std::vector<std::string> SuspendedOn(const std::string& model) const;
  // Ends the suspension of an ensemble, so that it is not loaded again with its steps.
  void Forget(const std::string& model);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, CatalogueEntry> entries_;
};

}  // namespace tern::server
