// The server's side of include/tern/backend.h.
#pragma once
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "server/core/backend.h"
#include "tern/backend.h"

namespace tern::server {

const TernHost& Host();

// An initialised engine. Models, instances and outputs of the engine keep it alive.
class LoadedBackend {
 public:
  // Checks the version and the functions of `api`, then calls initialise.
  static Result<std::shared_ptr<LoadedBackend>> Initialise(const TernBackend* api);
  ~LoadedBackend();
  LoadedBackend(const LoadedBackend&) = delete;
  LoadedBackend& operator=(const LoadedBackend&) = delete;
  // Functions that the engine's version of the interface does not have are null.
  const TernBackend& api() const { return api_; }
  void* handle() const { return handle_; }

 private:
  explicit LoadedBackend(const TernBackend& api);
  TernBackend api_{};
  void* handle_ = nullptr;
  bool initialised_ = false;
};

// The C interface numbers types like the enum DataType of model_config.proto (TYPE_FP32 and so on).
int32_t AbiType(DType dtype);  // 0 if clients cannot send this type
DType TypeFromAbi(int32_t type);

Status StatusOf(const TernError& error);
int32_t Fail(const Status& status, TernError* error);  // returns the code

TernTensor View(const WireTensor& tensor);
// Allocates memory that is aligned to 64 bytes and not zeroed. Returns an undefined buffer if there is no
// memory.
Buffer AllocateOutput(size_t bytes);

}  // namespace tern::server

// The definitions of the C interface's opaque types.
struct TernOutputs {
  std::shared_ptr<tern::server::LoadedBackend> backend;
  std::vector<tern::server::WireTensor> tensors;
  tern::Status status;             // the error of the first wrong output
  TernRequest* request = nullptr;  // the request that this response answers
  std::vector<tern::server::AgainRow> again;
  const tern::server::ModelConfig* config = nullptr;  // of the model; null if it is not known
  tern::server::OutputMemory* memory = nullptr;       // of the batch; null: AllocateOutput
};

// What TernBatch::rows points to.
struct TernRows {
  const tern::server::Batch* batch = nullptr;
  // What row_parameters returned. Empty lists allocate no memory.
  std::list<std::string> texts;
  std::list<std::vector<TernText>> parameters;
};

struct TernRequest {
  std::shared_ptr<tern::server::LoadedBackend> backend;
  std::shared_ptr<tern::server::Call> call;
  std::vector<TernTensor> inputs;
  std::vector<std::pair<std::string, std::string>> parameters;
};

struct TernDescription {
  struct Tensor {
    std::string name;
    tern::DType dtype = tern::DType::kInvalid;
    tern::Dims dims;
    bool optional = false;
  };
  std::vector<Tensor> inputs, outputs;
  int max_batch_size = -1;  // -1: not set
  bool dynamic_batching = false;
  bool decoupled = false;
  tern::Status status;
};

struct TernMetrics {
  std::vector<std::pair<std::string, double>> values;
};
