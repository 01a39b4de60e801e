// The trace and log settings that clients read and change.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "server/core/control.h"

namespace tern::server {

struct TraceStart {
  std::string file;
  std::vector<std::string> level = {"OFF"};  // or TIMESTAMPS, TENSORS
  // Trace every rate-th request; 0: only requests that the caller samples.
  int64_t rate = 1000;
  int64_t count = -1;  // the number of traces that are still written; -1: no limit
  int64_t log_frequency = 0;
  std::string mode = "triton";  // or opentelemetry
};

// The server's log at the start (server/core/log.h). A SettingsStore changes the log of the whole process.
struct LogStart {
  bool info = true, warning = true, error = true;
  int64_t verbose_level = 0;
  std::string format = "default";  // or ISO8601
};

// Thread-safe. For a setting that a model does not override, the server's value applies.
class SettingsStore : public SettingsControl {
 public:
  // `models` must outlive this object. If it is null, settings for any model name are accepted.
  static Result<std::unique_ptr<SettingsStore>> Create(const TraceStart& trace, const LogStart& log,
                                                       const Registry* models);

  Result<Settings> Trace(const std::string& model) override;
  Result<Settings> SetTrace(const std::string& model, const Settings& changes) override;
  std::map<std::string, ParameterValue> Log() override;
  Status SetLog(const std::map<std::string, ParameterValue>& changes) override;

  // True if any request may be traced.
  bool tracing() const { return tracing_.load(std::memory_order_relaxed); }
  // Counts a request to the model. Returns whether the request is traced. `asked` is true if the caller's
  // trace context is sampled.
  bool Sample(std::string_view model, bool asked);

 private:
  explicit SettingsStore(const Registry* models) : models_(models) {}
  Status CheckModel(const std::string& model) const;
  Settings Merged(std::string_view model) const;
  void Update();

  const Registry* models_;
  mutable std::mutex mutex_;
  Settings start_, server_;
  std::map<std::string, Settings, std::less<>> of_models_;
  std::map<std::string, ParameterValue> log_;
  struct Sampling {
    bool on = false;
    int64_t rate = 0, left = -1;
    uint64_t seen = 0;
  };
  // Shared by all models without their own settings.
  Sampling sampling_;
  std::map<std::string, Sampling, std::less<>> sampling_of_;  // one per model with its own settings
  std::atomic<bool> tracing_{false};
};

}  // namespace tern::server
