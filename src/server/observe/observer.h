// Metrics, the access log, traces, and the settings that control the log and the traces.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "server/observe/metrics_text.h"
#include "server/observe/settings_store.h"

namespace tern::server {

class MetricsText;

struct ObserveOptions {
  std::string service = "tern", version;
  std::string access_log;      // a file; "-": standard output; empty: none
  std::string trace_endpoint;  // http://HOST:PORT/v1/traces; empty: traces are not sent
  TraceStart trace;
  LogStart log;
};

class MetricsText;

class Observer : public Observability {
 public:
  // `models` must outlive the observer.
  static Result<std::unique_ptr<Observer>> Create(const ObserveOptions& options, const Registry& models);
  virtual SettingsControl& settings() = 0;
  // Adds a gauge to the metrics: the number of open connections, with this label `protocol`. Must be called
  // before the first request.
  virtual void AddConnections(std::string protocol, std::function<size_t()> count) = 0;
  // Adds metrics. The function is called on any thread. Must be called before the first request.
  virtual void AddMetrics(std::function<void(MetricsText&)> append) = 0;
  // Opens the access log again. Called after a program has renamed the file.
  virtual void Reopen() = 0;
};

}  // namespace tern::server
