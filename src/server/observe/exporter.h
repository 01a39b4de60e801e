// Sends spans to an OpenTelemetry collector on a separate thread.
#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/net/http_client.h"
#include "server/observe/span.h"

namespace tern::server {

// Thread-safe.
class TraceExporter {
 public:
  // `endpoint` is a URL such as http://HOST:PORT/v1/traces.
  static Result<std::unique_ptr<TraceExporter>> Create(const std::string& endpoint, std::string service,
                                                       std::string version);
  ~TraceExporter();  // sends the waiting spans; a request takes at most two seconds
  void Add(std::vector<Span> spans);
  // The number of spans that were dropped, because too many waited or the collector did not accept them.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  TraceExporter(Url url, std::string service, std::string version);
  void Work();
  void Post(const std::vector<Span>& spans);

  const Url url_;
  const std::string service_, version_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Span> pending_;
  bool stop_ = false;
  std::atomic<uint64_t> dropped_{0};
  std::thread thread_;
};

}  // namespace tern::server
