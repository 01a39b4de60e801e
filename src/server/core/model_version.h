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

class ModelProcess;
class TextGenerator;

// Resident memory of the process while a model's versions were changed.
struct ChangeMemory {
  uint64_t before = 0, peak = 0;  // bytes; 0: not measured
  bool unload_first = false;      // the old versions were unloaded before the new ones were loaded
};

// Thread-safe.
class ModelVersion {
 public:
  virtual ~ModelVersion() = default;

  const ModelConfig& config() const { return config_; }
  const std::string& version() const { return version_; }
  ModelStatistics& statistics() { return *statistics_; }
  // From now on, adds counts to those of another version. Call it before other threads use the version.
  void ShareStatistics(const ModelVersion& other) { UseStatistics(other.statistics_); }
  // Forgets the counts of requests that only tried the version. Call it before other threads use the version.
  void ResetStatistics() { UseStatistics(std::make_shared<ModelStatistics>()); }
  // The time that loading took, with warm-up. Set once, before other threads use the version.
  std::chrono::nanoseconds load_time() const { return load_time_; }
  void SetLoadTime(std::chrono::nanoseconds time) { load_time_ = time; }
  // True if the version has passed golden requests. A version without golden requests is not validated.
  bool validated() const { return golden_requests_ > 0; }
  // The number of golden requests that the version has passed. Set once, before other threads use the
  // version.
  size_t golden_requests() const { return golden_requests_; }
  void SetGoldenRequests(size_t passed) { golden_requests_ = passed; }
  // The memory of the change that loaded the version. Set once, before other threads use the version.
  const ChangeMemory& change_memory() const { return change_memory_; }
  void SetChangeMemory(const ChangeMemory& memory) { change_memory_ = memory; }

  // A text that no version with other files or another configuration has. Empty unless the server has a
  // response cache. Set once, before other threads use the version.
  const std::string& identity() const { return identity_; }
  void SetIdentity(std::string identity) { identity_ = std::move(identity); }

  // Checks the request against the configuration and puts it into the queue, or runs it on the calling thread
  // if that is faster. The call gets at least one response, even if this version is unloaded meanwhile.
  virtual void Submit(std::shared_ptr<Call> call) = 0;
  // If this object stands for several versions, as during a rollout, returns the version that answers this
  // request. The caller submits the request to the result. Returns null if this version itself answers. A
  // front end calls this function when the request is parsed. A front end that only calls Submit does not
  // learn the number of the version that answers.
  virtual std::shared_ptr<ModelVersion> Choose(const Request& /*request*/) { return nullptr; }
  // Returns the version that this object stands before during a rollout, or null.
  virtual std::shared_ptr<ModelVersion> behind() const { return nullptr; }
  // If Submit would refuse every request now because of the model's latency goal, answers the call with
  // kResourceExhausted and returns true. Uses only request.arrived and request.tenant. A front end calls it
  // before it decodes a request, so that refused requests take little processor time from the model.
  virtual bool RefuseIfOverloaded(Call& /*call*/) { return false; }
  // The entry points that Request::signature can name, sorted by name. Null for a model without signatures.
  virtual const std::vector<Signature>* signatures() const { return nullptr; }
  virtual size_t MemoryBytes() const = 0;
  virtual size_t Pending() const = 0;  // requests in the queue
  // False while the model's process is being restarted.
  virtual bool Ready() const { return true; }
  // True if the object only holds requests until a version is loaded.
  virtual bool placeholder() const { return false; }
  // The process of an isolated model, else null.
  virtual std::shared_ptr<const ModelProcess> process() const { return nullptr; }
  // The number of executions that exceeded ModelConfig::execution_timeout.
  virtual uint64_t Hangs() const { return 0; }
  // The interface of a model that generates text; null for other models.
  virtual TextGenerator* generator() { return nullptr; }
  // Values that the back end reports of itself, by name.
  virtual std::vector<std::pair<std::string, double>> Metrics() const { return {}; }
  // What the repository index says of the version while it is ready; usually empty.
  virtual std::string StateNote() const { return {}; }

 protected:
  ModelVersion(ModelConfig config, std::string version)
      : config_(std::move(config)), version_(std::move(version)) {}
  virtual void UseStatistics(const std::shared_ptr<ModelStatistics>& statistics) { statistics_ = statistics; }

 private:
  const ModelConfig config_;
  const std::string version_;
  std::shared_ptr<ModelStatistics> statistics_ = std::make_shared<ModelStatistics>();
  std::chrono::nanoseconds load_time_{0};
  std::string identity_;
  size_t golden_requests_ = 0;
  ChangeMemory change_memory_;
};

}  // namespace tern::server
