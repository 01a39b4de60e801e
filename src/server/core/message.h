// Requests and responses, independent of any protocol.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "core/buffer.h"
#include "core/tensor.h"
#include "server/core/parameter.h"

namespace tern::server {

using Clock = std::chrono::steady_clock;

// A tensor in the form of the v2 protocol's binary data: row-major, little-endian, without padding. BOOL has
// one byte per element. BYTES (DType::kString) has a uint32 length before the bytes of each element.
struct WireTensor {
  std::string name;
  DType dtype = DType::kInvalid;
  Dims dims;
  Buffer bytes;  // may share the memory into which a connection received the request
};

struct RequestedOutput {
  std::string name;
  // n > 0: the response has the n largest values per batch item, as strings "value:index[:label]".
  int classification = 0;
};

// The position of a request in a sequence of requests to a stateful model.
struct SequenceInfo {
  std::string id;  // empty if the request belongs to no sequence; a number is written in decimal
  bool numeric = true;
  bool start = false;
  bool end = false;
};

// W3C trace context of the caller. trace_id is empty if the caller sent none.
struct TraceContext {
  std::string trace_id;   // 32 hexadecimal digits
  std::string parent_id;  // 16 hexadecimal digits
  bool sampled = false;
};

struct Request {
  std::string id;  // chosen by the client and returned in responses; may be empty
  std::vector<WireTensor> inputs;
  std::vector<RequestedOutput> outputs;  // empty: all outputs of the model
  Parameters parameters;                 // without those that the server itself interprets
  uint64_t priority = 0;                 // 1 is the highest; 0: the model's default
  std::chrono::microseconds timeout{0};  // the longest time in the queue; 0: the model's default
  SequenceInfo sequence;
  TraceContext trace;
  Clock::time_point arrived;  // when the first byte of the request arrived
  bool empty_final = false;   // the client wants a final response even if it has no outputs
  std::string signature;      // one of ModelVersion::signatures; empty: the version's own inputs and outputs
  bool copy = false;      // a mirrored request: not answered from the cache, not run on the submitting thread
  bool readable = false;  // the client wants Response::text instead of tensors; only for pipelines
  uint32_t tenant = 0;    // id of the client's tenant; a queue is shared fairly between tenants; 0: none
  uint32_t weight = 1;    // share of the tenant, at least 1
};

struct Response {
  Status status;                             // if it is an error, there are no outputs, and `final` is true
  bool timed_out = false;                    // the error is that the execution took too long
  std::chrono::milliseconds retry_after{0};  // if > 0, the time after which the client may try again
  std::vector<WireTensor> outputs;
  std::string text;  // the whole answer as JSON, for a readable request
  Parameters parameters;
  bool final = true;
};

}  // namespace tern::server
