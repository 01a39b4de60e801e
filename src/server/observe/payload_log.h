// Writes the requests and responses of a sample of the traffic to files.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "server/core/model_version.h"

namespace tern::server {

struct PayloadOptions {
  std::string file;                         // empty: off
  uint64_t rate = 1000;                     // one request in this many is logged
  uint64_t max_bytes = uint64_t{64} << 20;  // of one file
  int files = 4;                            // FILE, FILE.1 and so on; the oldest is removed
};

// Thread-safe. Each line is a JSON object:
//   {"time":…,"model":…,"version":…,"duration_us":…,"request":{…},"response":{…}}
// The request has the form of a v2 inference request with its tensors as JSON, so that it can be sent again.
// The response has the form of a v2 response, or is {"error":…}. The tensors are converted and written on a
// separate thread. If that thread is too slow, payloads are dropped.
class PayloadLog {
 public:
  static Result<std::unique_ptr<PayloadLog>> Open(const PayloadOptions& options);
  ~PayloadLog();  // writes what waits
  // Decides whether the call is in the sample, and logs its final response when it is sent.
  void Watch(Call& call, const ModelVersion& version);
  // Returns the number of payloads of the sample that were not written. A payload is not written if too many
  // wait, if it has more than 1 MiB or no JSON form, or if the file cannot be written.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::string model, version;
    std::chrono::system_clock::time_point time;
    std::chrono::nanoseconds duration{0};
    Request request;
    Response response;
    size_t bytes = 0;
  };
  explicit PayloadLog(const PayloadOptions& options) : options_(options) {}
  void Add(Entry entry);
  void Work();
  Status Write(const Entry& entry);
  Status OpenFile();
  void Rotate();

  const PayloadOptions options_;
  std::atomic<uint64_t> seen_{0}, dropped_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> waiting_;
  size_t waiting_bytes_ = 0;
  bool stop_ = false;
  int fd_ = -1;  // used by the thread only
  uint64_t written_ = 0;
  std::thread thread_;
};

// Appends a line, without its end. Fails if a tensor has no JSON form.
Status AppendPayload(const Request& request, const Response& response, std::string& out);

}  // namespace tern::server
