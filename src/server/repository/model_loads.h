// Loads, swaps and unloads models, one operation at a time per model.
#pragma once
#include "server/repository/catalogue.h"
#include "server/repository/loader.h"

namespace tern::server {

// Thread-safe.
class ModelLoads {
 public:
  ModelLoads(const Loader& loader, Scheduler& scheduler, Registry& registry)
      : loader_(loader), scheduler_(scheduler), registry_(registry) {}

  // Loads a model beside its live versions and swaps them when all new ones are ready. If a version fails,
  // live versions stay; without live ones, those that are ready are published. Fails if any version failed.
  Status Load(const ModelSource& source, const LoadOptions& options, bool requested);
  // Unpublishes a model, then ends its versions. `reason` is what the index says afterwards.
  void Unload(const std::string& model, const std::string& reason, std::chrono::milliseconds limit);
  // Marks a model that cannot be loaded: its name is ambiguous.
  void Refuse(const std::string& model, const Status& status);

  Catalogue& catalogue() { return catalogue_; }

 private:
  Status Swap(const std::string& model, LoadResult result, std::shared_ptr<TemporaryFolder> folder,
              const std::string& fingerprint, bool requested);
  void Fail(const std::string& model, const Status& status);
  std::mutex& MutexOf(const std::string& model);

  const Loader& loader_;
  Scheduler& scheduler_;
  Registry& registry_;
  Catalogue catalogue_;
  std::mutex mutexes_guard_;
  std::map<std::string, std::unique_ptr<std::mutex>> mutexes_;
};

}  // namespace tern::server
