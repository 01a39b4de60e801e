// The models that the server can run now. A reader never waits while a model is being loaded.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/core/model_version.h"

namespace tern::server {

// Versions compare as numbers if both are numbers, else as text.
bool VersionLess(const std::string& a, const std::string& b);

enum class ModelState { kUnknown, kReady, kUnavailable, kLoading, kUnloading };
const char* StateName(ModelState state);  // "READY"

// Thread-safe. Find does not wait for writers, because it reads a snapshot that they replace.
class Registry {
 public:
  // Returns a version; an empty `version` means the latest that is ready. Fails with kNotFound for an unknown
  // model or version ("Request for unknown model: 'm' version 9 is not found") and with kUnavailable for a
  // version that was published and is gone while the model stayed ("… is not at ready state").
  Result<std::shared_ptr<ModelVersion>> Find(std::string_view model, std::string_view version = {}) const;
  // Returns the versions that are ready, in ascending order. The result is empty for an unknown model.
  std::vector<std::shared_ptr<ModelVersion>> Versions(std::string_view model) const;
  std::vector<std::shared_ptr<ModelVersion>> All() const;

  // Replaces all versions of a model at once. An empty list removes the model.
  void Publish(const std::string& model, std::vector<std::shared_ptr<ModelVersion>> versions);

 private:
  struct Model {
    std::vector<std::shared_ptr<ModelVersion>> versions;  // ascending, never empty
    std::vector<std::string> gone;                        // published once; the oldest are forgotten
  };
  using Snapshot = std::map<std::string, Model, std::less<>>;
  std::mutex writers_;
  std::shared_ptr<const Snapshot> snapshot_ = std::make_shared<Snapshot>();  // read and replaced atomically
};

}  // namespace tern::server
