// One loaded version of a model, with its configuration, queue and statistics.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/core/call.h"
#include "server/core/model_config.h"
#include "server/core/signatures.h"
#include "server/core/statistics.h"

namespace tern::server {

// Thread-safe.
class ModelVersion {
 public:
  virtual ~ModelVersion() = default;

  const ModelConfig& config() const { return config_; }
  const std::string& version() const { return version_; }
  ModelStatistics& statistics() { return *statistics_; }
  // From now on, adds counts to those of another version. Call it before other threads use the version.
  void ShareStatistics(const ModelVersion& other) { statistics_ = other.statistics_; }
  // The time that loading took, with warm-up. Set once, before other threads use the version.
  std::chrono::nanoseconds load_time() const { return load_time_; }
  void SetLoadTime(std::chrono::nanoseconds time) { load_time_ = time; }

  // A text that no version with other files or another configuration has. Empty unless the server has a
  // response cache. Set once, before other threads use the version.
  const std::string& identity() const { return identity_; }
  void SetIdentity(std::string identity) { identity_ = std::move(identity); }

  // Checks the request against the configuration and puts it into the queue, or runs it on the calling thread
  // if that is faster. The call gets at least one response, even if this version is unloaded meanwhile.
  virtual void Submit(std::shared_ptr<Call> call) = 0;
  // Answers the call with kResourceExhausted and returns true if Submit would refuse every request now
  // because of the model's latency goal. Uses only request.arrived. A front end calls it before it decodes a
  // request, so that requests that are refused take little processor time from the model.
  virtual bool RefuseIfOverloaded(Call& /*call*/) { return false; }
  // The entry points that Request::signature can name, sorted by name. Null for a model without signatures.
  virtual const std::vector<Signature>* signatures() const { return nullptr; }
  virtual size_t MemoryBytes() const = 0;
  virtual size_t Pending() const = 0;  // requests in the queue
  // Values that the back end reports of itself, by name.
  virtual std::vector<std::pair<std::string, double>> Metrics() const { return {}; }

 protected:
  ModelVersion(ModelConfig config, std::string version)
      : config_(std::move(config)), version_(std::move(version)) {}

 private:
  const ModelConfig config_;
  const std::string version_;
  std::shared_ptr<ModelStatistics> statistics_ = std::make_shared<ModelStatistics>();
  std::chrono::nanoseconds load_time_{0};
  std::string identity_;
};

}  // namespace tern::server
