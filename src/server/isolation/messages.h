// The payloads of messages between the server and the process of an isolated model. The server does not trust
// the process: each Parse function of its payloads checks every field.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/backend.h"
#include "server/isolation/sandbox.h"

namespace tern::server {

enum class MessageType : uint32_t {
  kStart = 1,     // server, first: StartMessage
  kLoaded,        // process: LoadedMessage, or the error of loading
  kOpenInstance,  // server, with the socket of an instance; id is the number of the instance
  kOpened,        // process, on the instance's socket: a status
  kRun,           // server, on the instance's socket: RunMessage. id counts the executions
  kRan,           // process, on the instance's socket: RanMessage with the same id
  kEndSequence,   // server, on the instance's socket: the id of the sequence
  kCall,          // server: CallMessage; id is the number of the call
  kReturned,      // process: RunCall of this call has returned
  kResponse,      // process: ResponseMessage to this call
  kCancel,        // server: this call is cancelled
  kStatistics,    // process: StatisticsMessage
};

struct StartMessage {
  std::string backend, backend_folder;
  ModelFiles files;
  std::string config;                         // inference.ModelConfig. The members below replace parts of it:
  std::vector<TensorConfig> inputs, outputs;  // without labels
  int max_batch_size = 0;
  bool batch_tensors = false;  // the model has batch inputs and outputs
  std::map<std::string, std::string> parameters;
  bool sandbox = false;
  SandboxLimits limits;
  int64_t server = 0;  // process id
};
StartMessage StartOf(const ModelFiles& files, const ModelConfig& config);
std::string Encode(const StartMessage& message);
Status Parse(std::string_view payload, StartMessage& out);

// A Status as a payload. The server limits the text of a status that it gets.
std::string Encode(const Status& status);
Status ParseStatus(std::string_view payload, Status& out);

// What the back end reports when it has loaded the model.
struct LoadedMessage {
  std::vector<TensorConfig> inputs, outputs;  // without labels
  int max_batch_size = 0;
  bool batching = false, decoupled = false;
  bool parallel = false, runs_calls = false, keeps_sequences = false;
  uint64_t memory = 0;
  std::string sandbox;  // the layers of the sandbox, for the log
};
std::string Encode(const Status& status, const LoadedMessage& message);
// Fails with the error of loading, or if the payload is wrong.
Status Parse(std::string_view payload, LoadedMessage& out);

// A tensor whose bytes are in the arena of an instance.
struct ArenaTensor {
  WireTensor tensor;  // without bytes
  uint64_t offset = 0, bytes = 0;
};

struct RunMessage {
  int threads = 1;
  std::vector<ArenaTensor> inputs;
  uint64_t arena = 0;  // bytes of the arena of inputs
  std::vector<std::string> outputs;
  // The requests in the order of their rows, as in Batch. Only parameters and sequence of a request are
  // passed on.
  bool has_requests = false;
  std::vector<int64_t> items;
  std::vector<uint8_t> present;  // 0 for an empty slot
  std::vector<Request> requests;
};
std::string Encode(const RunMessage& message);
Status Parse(std::string_view payload, RunMessage& out);
// Returns a message with everything from a batch except the inputs.
RunMessage RunMessageOf(const Batch& batch);

struct RanMessage {
  std::vector<ArenaTensor> outputs;
  std::vector<AgainRow> again;
  uint64_t cpu_ns = 0;
};
std::string Encode(const Status& status, const RanMessage& message);
// Returns the error of the execution, or an error of the payload. In the second case, sets `broken`.
Status Parse(std::string_view payload, RanMessage& out, bool& broken);

struct CallMessage {
  uint64_t instance = 0;
  Request request;  // without times; tensors refer to memory of their own
};
std::string Encode(uint64_t instance, const Request& request);
Status Parse(std::string_view payload, CallMessage& out);

std::string Encode(const Response& response);
Status Parse(std::string_view payload, Response& out);

struct StatisticsMessage {
  uint64_t memory = 0;
  std::vector<std::pair<std::string, double>> values;
};
std::string Encode(const StatisticsMessage& message);
Status Parse(std::string_view payload, StatisticsMessage& out);

// Checks that a tensor of `bytes` bytes can be sent to clients: type, dims and size.
Status CheckShape(const WireTensor& tensor, uint64_t bytes);
// Checks the lengths in a BYTES tensor.
Status CheckStrings(const WireTensor& tensor);

}  // namespace tern::server
