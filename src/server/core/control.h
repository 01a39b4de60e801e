// The interfaces that front ends use for everything but inference. The repository, the settings and the
// shared memory implement them.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/core/registry.h"

namespace tern::server {

class AccessControl;  // server/access/access.h
class AuditLog;       // server/access/audit_log.h

struct IndexEntry {
  std::string name, version;
  ModelState state = ModelState::kUnknown;
  std::string reason;
};

struct LoadOptions {
  std::string config;  // JSON that replaces the model's configuration; empty: none
  // File contents by "<version>/<file>". They replace the files of the model's folder.
  std::map<std::string, std::string> files;
};

class RepositoryControl {
 public:
  virtual ~RepositoryControl() = default;
  virtual std::vector<IndexEntry> Index(bool ready_only) = 0;
  // Load and Unload wait until the model is loaded or unloaded. They fail with kUnavailable unless the
  // control mode is explicit (--model-control explicit).
  virtual Status Load(const std::string& model, const LoadOptions& options) = 0;
  virtual Status Unload(const std::string& model, bool dependents) = 0;
};

// Labels of versions, and rollouts of new versions. JSON in and out: docs/guide/releases.md describes it.
class RolloutControl {
 public:
  virtual ~RolloutControl() = default;
  // Returns the labels of a model, and the state of its rollout if there is one.
  virtual Result<std::string> State(const std::string& model) = 0;
  // Carries out a request, then returns the new state. May wait until a version is loaded.
  virtual Result<std::string> Change(const std::string& model, std::string_view request) = 0;
};

struct SharedMemoryRegion {
  std::string name, key;
  uint64_t offset = 0, bytes = 0;
};

// Triton's text for clients of a server without shared memory.
inline constexpr const char* kSharedMemoryOff =
    "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to enable.";

// A range of a registered region. It stays usable after Unregister. Thread-safe. The bytes are copied by
// system calls: a client may shrink its memory object at any time, and an access to a mapping of it would
// then end the server with SIGBUS.
class SharedMemoryRange {
 public:
  virtual ~SharedMemoryRange() = default;
  virtual uint64_t size() const = 0;
  // Copies the whole range to `to`. Fails if the client has made the object smaller.
  virtual Status Read(void* to) const = 0;
  // Copies bytes to the start of the range. `bytes` is at most size(). Fails if the client has made the
  // object smaller.
  virtual Status Write(const void* from, uint64_t bytes) const = 0;
};

class SharedMemoryControl {
 public:
  virtual ~SharedMemoryControl() = default;
  virtual Status Register(const std::string& name, const std::string& key, uint64_t offset,
                          uint64_t bytes) = 0;
  virtual Status Unregister(const std::string& name) = 0;                             // empty: all
  virtual Result<std::vector<SharedMemoryRegion>> List(const std::string& name) = 0;  // empty: all
  virtual Result<std::shared_ptr<const SharedMemoryRange>> Find(const std::string& name, uint64_t offset,
                                                                uint64_t bytes) = 0;
};

// The values of each setting, by name, such as those of the trace extension.
using Settings = std::map<std::string, std::vector<std::string>>;

class SettingsControl {
 public:
  virtual ~SettingsControl() = default;
  // An empty `model` stands for the settings of the server.
  virtual Result<Settings> Trace(const std::string& model) = 0;
  virtual Result<Settings> SetTrace(const std::string& model, const Settings& changes) = 0;
  virtual std::map<std::string, ParameterValue> Log() = 0;
  virtual Status SetLog(const std::map<std::string, ParameterValue>& changes) = 0;
};

// What a front end reports about a finished request.
struct AccessRecord {
  std::string_view protocol, method, target, model, version, request_id, error;
  std::string_view user;            // the name in the access file; empty: unknown
  int status = 0;                   // the status code of HTTP or of gRPC
  uint64_t received = 0, sent = 0;  // bytes
  std::chrono::nanoseconds duration{0};
  const TraceContext* trace = nullptr;
  const CallTimes* times = nullptr;  // null if the request is not an inference
};

class Observability {
 public:
  virtual ~Observability() = default;
  virtual bool wants_access_log() const = 0;
  virtual void OnRequest(const AccessRecord& record) = 0;
  virtual std::string PrometheusText() = 0;
  // Called for each inference that is parsed, before it is submitted to the version.
  virtual void OnInference(Call& /*call*/, const ModelVersion& /*version*/) {}
};

// Limits on what a client can send. Each has its own error message.
struct Limits {
  uint64_t body_bytes = uint64_t{64} << 20;  // per request, after decompression
  int json_depth = 100;
  size_t tensors = 1024;  // per request
  size_t connections = 4096;
  uint64_t queued_bytes = uint64_t{1} << 30;  // of all queued or running requests and unsent responses
};

// The extensions of the v2 protocol that the server's metadata lists.
inline constexpr const char* kExtensions[] = {"classification",
                                              "sequence",
                                              "model_repository",
                                              "model_repository(unload_dependents)",
                                              "schedule_policy",
                                              "model_configuration",
                                              "system_shared_memory",
                                              "cuda_shared_memory",
                                              "binary_tensor_data",
                                              "parameters",
                                              "statistics",
                                              "trace",
                                              "logging"};

// Everything that a front end uses. All of it outlives the front ends.
struct ServerContext {
  std::string name = "tern";
  std::string version;
  Registry* models = nullptr;
  RepositoryControl* repository = nullptr;
  RolloutControl* rollouts = nullptr;
  SharedMemoryControl* shared_memory = nullptr;  // null: off
  SettingsControl* settings = nullptr;
  Observability* observability = nullptr;
  AccessControl* access = nullptr;  // null: everyone may do everything
  AuditLog* audit = nullptr;        // null: off
  Limits limits;
  // All models to load at the start are loaded, and the server is not shutting down.
  std::atomic<bool> ready{false};
  std::atomic<bool> draining{false};  // after SIGTERM: accepted requests are answered, new ones are refused
  std::atomic<uint64_t> queued_bytes{0};
};

}  // namespace tern::server
