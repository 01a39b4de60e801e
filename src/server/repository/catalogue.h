// What the repository knows about each model: the states that the index shows, live versions and
// fingerprints.
#pragma once
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
  std::string error;  // an error that concerns all versions; empty: none
  LiveVersions live;
  std::string fingerprint;         // of the model's files at the last load
  std::vector<std::string> steps;  // the models that run as steps of an ensemble
  // True if the model was loaded by name, false if it was loaded only because an ensemble needs it.
  bool requested = false;
  std::shared_ptr<TemporaryFolder> folder;  // contains the files that a load request sent
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
  bool Live(const std::string& model) const;
  // Returns the ensembles with live versions that have this model as a step.
  std::vector<std::string> Dependents(const std::string& model) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, CatalogueEntry> entries_;
};

}  // namespace tern::server
