// The models that the server can run now. A reader never waits while a model is being loaded.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/core/model_version.h"

namespace tern::server {

// Versions compare as numbers if both are numbers, else as text.
bool VersionLess(const std::string& a, const std::string& b);

enum class ModelState { kUnknown, kReady, kUnavailable, kLoading, kUnloading };
const char* StateName(ModelState state);  // "READY"

// Returns whether a label may have this name: at most 128 letters, digits and "_.-", beginning with a letter
// or "_".
bool IsLabelName(std::string_view name);

// What answers requests that name no version, or a label instead of a version.
struct VersionRoute {
  struct Label {
    std::string version;
    std::shared_ptr<ModelVersion> through;  // requests are submitted to it; null: to the version itself
  };
  std::shared_ptr<ModelVersion> unversioned;  // null: the latest version
  std::map<std::string, Label, std::less<>> labels;
};

// Thread-safe. Find does not wait for writers, because it reads a snapshot that they replace.
class Registry {
 public:
  // Returns the route of a model, given the versions that are ready, in ascending order.
  using Router = std::function<VersionRoute(const std::string& model,
                                            const std::vector<std::shared_ptr<ModelVersion>>& versions)>;

  // Returns a version. `version` is a number or a label. If it is empty, the result is what the model's route
  // says, or the latest version that is ready. Fails with kNotFound for an unknown model, version or label
  // ("Request for unknown model: 'm' version 9 is not found") and with kUnavailable for a version that was
  // removed while the model stayed ("… is not at ready state"), also if a label names that version.
  Result<std::shared_ptr<ModelVersion>> Find(std::string_view model, std::string_view version = {}) const;
  // Returns the version that a label names. Fails with kNotFound if the model or the label does not exist,
  // and with kUnavailable if the version is not ready.
  Result<std::shared_ptr<ModelVersion>> FindLabel(std::string_view model, std::string_view label) const;
  // Returns the versions of all labels of a model, by label.
  std::map<std::string, std::string> Labels(std::string_view model) const;
  // Returns the versions that are ready, in ascending order. The result is empty for an unknown model.
  std::vector<std::shared_ptr<ModelVersion>> Versions(std::string_view model) const;
  std::vector<std::shared_ptr<ModelVersion>> All() const;

  // Replaces all versions of a model at once. An empty list removes the model. If there is a router, its
  // route replaces the old one at the same moment. Otherwise the labels stay.
  void Publish(const std::string& model, std::vector<std::shared_ptr<ModelVersion>> versions);
  // Replaces the route of a model that has versions. All its labels move at the same moment.
  void SetRoute(const std::string& model, VersionRoute route);
  // From now on, Publish and Reroute take routes from this function. The function is called while the
  // registry's writers wait. So it must neither block nor write to the registry. An empty function removes
  // the router.
  void SetRouter(Router router);
  // Asks the router for a new route of a model. Does nothing if the model has no versions.
  void Reroute(const std::string& model);

 private:
  struct Model {
    std::vector<std::shared_ptr<ModelVersion>> versions;  // ascending, never empty
    std::vector<std::string> gone;                        // removed versions; the oldest are forgotten
    VersionRoute route;
  };
  using Snapshot = std::map<std::string, Model, std::less<>>;
  static Result<std::shared_ptr<ModelVersion>> Labelled(std::string_view model, const Model& entry,
                                                        std::string_view label);
  std::mutex writers_;
  Router router_;                                                            // used under writers_
  std::shared_ptr<const Snapshot> snapshot_ = std::make_shared<Snapshot>();  // read and replaced atomically
};

}  // namespace tern::server
