#include "server/backend/host.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "server/backend/response.h"
#include "server/core/buffer_pool.h"
#include "server/core/log.h"

namespace tern::server {
namespace {

constexpr DType kTypes[] = {DType::kInvalid, DType::kBool, DType::kU8,  DType::kU16,    DType::kU32,
                            DType::kU64,     DType::kI8,   DType::kI16, DType::kI32,    DType::kI64,
                            DType::kF16,     DType::kF32,  DType::kF64, DType::kString, DType::kBF16};
static_assert(kTypes[TERN_TYPE_BYTES] == DType::kString && kTypes[TERN_TYPE_BF16] == DType::kBF16);
static_assert(static_cast<int>(Code::kUnavailable) == TERN_UNAVAILABLE);
static_assert(static_cast<int>(Code::kIo) == TERN_IO);
constexpr int kMaxRank = 64;
constexpr size_t kFirstSize = offsetof(TernBackend, end_sequence);  // of version 1

void LogOfBackend(int32_t level, const char* message) {
  const LogLevel own = level >= 2 ? LogLevel::kError : level == 1 ? LogLevel::kWarning : LogLevel::kInfo;
  Log(own, message ? message : "");
}

Result<TernDescription::Tensor> Described(const TernTensorInfo& info) {
  if (!info.name || !*info.name) return InvalidModel("the back end describes a tensor without a name");
  if (info.rank < 0 || info.rank > kMaxRank || (info.rank && !info.dims))
    return InvalidModel("the back end describes tensor '", info.name, "' with rank ", info.rank);
  TernDescription::Tensor tensor{info.name, TypeFromAbi(info.type), Dims(info.dims, info.dims + info.rank),
                                 info.optional != 0};
  if (tensor.dtype == DType::kInvalid)
    return Unsupported("tensor '", tensor.name, "' has a type that clients cannot send");
  for (const int64_t dim : tensor.dims)
    if (dim < -1) return InvalidModel("the back end describes tensor '", info.name, "' with dim ", dim);
  return tensor;
}

void AddTensor(TernDescription* to, const TernTensorInfo* info, std::vector<TernDescription::Tensor>& list) {
  auto tensor = Described(*info);
  if (tensor.ok())
    list.push_back(std::move(*tensor));
  else if (to->status.ok())
    to->status = tensor.TakeStatus();
}

void AddInput(TernDescription* to, const TernTensorInfo* info) { AddTensor(to, info, to->inputs); }
void AddOutput(TernDescription* to, const TernTensorInfo* info) { AddTensor(to, info, to->outputs); }

void SetMaxBatchSize(TernDescription* to, int32_t max_batch_size, int32_t dynamic_batching) {
  to->max_batch_size = max_batch_size;
  to->dynamic_batching = dynamic_batching != 0;
}

void SetDecoupled(TernDescription* to, int32_t decoupled) { to->decoupled = decoupled != 0; }

// "TYPE_FP32"
std::string ConfigName(DType dtype) {
  return dtype == DType::kString ? "TYPE_STRING" : StrCat("TYPE_", WireName(dtype));
}

// The message is Triton's, because clients match it.
Status CheckType(const ModelConfig* config, const char* name, DType dtype) {
  const TensorConfig* output = config ? config->FindOutput(name) : nullptr;
  if (!output || output->dtype == DType::kInvalid || output->dtype == dtype) return {};
  return InvalidModel("configuration expects datatype ", ConfigName(output->dtype), " for output '", name,
                      "', model provides ", ConfigName(dtype));
}

// Checks an output and appends it without bytes. Returns null and sets to->status if the output is invalid.
WireTensor* Append(TernOutputs* to, const TernTensor* tensor) {
  const auto wrong = [&](const auto&... text) -> WireTensor* {
    if (to->status.ok()) to->status = InvalidModel("the back end gave a wrong output: ", text...);
    return nullptr;
  };
  if (!tensor->name || !*tensor->name) return wrong("it has no name");
  const DType dtype = TypeFromAbi(tensor->type);
  if (dtype == DType::kInvalid) return wrong("'", tensor->name, "' has type ", tensor->type);
  if (Status status = CheckType(to->config, tensor->name, dtype); !status.ok()) {
    if (to->status.ok()) to->status = std::move(status);
    return nullptr;
  }
  if (tensor->rank < 0 || tensor->rank > kMaxRank || (tensor->rank && !tensor->dims))
    return wrong("'", tensor->name, "' has rank ", tensor->rank);
  Dims dims(tensor->dims, tensor->dims + tensor->rank);
  for (const int64_t dim : dims)
    if (dim < 0) return wrong("'", tensor->name, "' has dim ", dim);
  const auto count = CheckedCount(dims, dtype);
  if (!count) return wrong("'", tensor->name, "' has too many elements");
  if (dtype != DType::kString && BytesOf(dtype, static_cast<size_t>(*count)) != tensor->bytes)
    return wrong("'", tensor->name, "' is ", Describe(dtype, dims), ", but has ", tensor->bytes, " bytes");
  to->tensors.push_back({tensor->name, dtype, std::move(dims), {}});
  return &to->tensors.back();
}

void* Allocate(TernOutputs* to, const TernTensor* tensor) {
  WireTensor* output = Append(to, tensor);
  if (!output) return nullptr;
  output->bytes = to->memory ? to->memory->Allocate(tensor->bytes) : AllocateOutput(tensor->bytes);
  if (!output->bytes.defined() && to->status.ok())
    to->status = ResourceExhausted("no memory for output '", output->name, "' of ", tensor->bytes, " bytes");
  return output->bytes.data();
}

void Give(TernOutputs* to, const TernTensor* tensor, void* owner, void (*release)(void*)) {
  std::shared_ptr<const void> held(owner, [release, backend = to->backend](const void* memory) {
    if (release) release(const_cast<void*>(memory));
  });
  WireTensor* output = Append(to, tensor);
  if (output) output->bytes = Buffer::Borrow(const_cast<void*>(tensor->data), tensor->bytes, std::move(held));
}

int32_t Stopped(const TernBatch* batch) {
  return batch->stop && !static_cast<const Stop*>(batch->stop)->Check().ok();
}

void Metric(TernMetrics* to, const char* name, double value) {
  if (name && *name) to->values.emplace_back(name, value);
}

// The messages are Triton's, because clients match them.
Status CheckState(const ModelConfig* config, const char* name) {
  if (!config || !config->sequence || config->sequence->states.empty())
    return InvalidArgument("unable to add state '", name, "'. State configuration is missing for model '",
                           config ? config->name : "", "'.");
  for (const StateConfig& state : config->sequence->states)
    if (state.output == name) return {};
  return InvalidArgument("state '", name, "' is not a valid state name.");
}

void* AllocateState(TernOutputs* to, const TernTensor* tensor) {
  Status status = CheckState(to->config, tensor->name ? tensor->name : "");
  if (status.ok()) return Allocate(to, tensor);
  if (to->status.ok()) to->status = std::move(status);
  return nullptr;
}

void Reschedule(TernOutputs* to, uint64_t row, int32_t respond) { to->again.push_back({row, respond != 0}); }

// Returns the request of a row, or null.
const Request* RequestOf(const Batch& batch, uint64_t row) {
  if (!batch.requests || !batch.items) return nullptr;
  for (size_t i = 0; i < batch.items->size(); ++i) {
    const auto items = static_cast<uint64_t>((*batch.items)[i]);
    if (row < items) return (*batch.requests)[i];
    row -= items;
  }
  return nullptr;
}

const TernText* RowParameters(const TernBatch* batch, uint64_t row, uint64_t* count) {
  auto* rows = static_cast<TernRows*>(batch->rows);
  const Request* request = rows ? RequestOf(*rows->batch, row) : nullptr;
  *count = request ? request->parameters.size() : 0;
  if (*count == 0) return nullptr;
  auto& list = rows->parameters.emplace_back();
  for (const auto& [key, value] : request->parameters)
    list.push_back({key.c_str(), rows->texts.emplace_back(TextOf(value)).c_str()});
  return list.data();
}

const char* RowSequence(const TernBatch* batch, uint64_t row) {
  const auto* rows = static_cast<const TernRows*>(batch->rows);
  const Request* request = rows ? RequestOf(*rows->batch, row) : nullptr;
  return request && !request->sequence.id.empty() ? request->sequence.id.c_str() : nullptr;
}

}  // namespace

const TernHost& Host() {
  static constexpr TernHost host{TERN_BACKEND_VERSION,
                                 sizeof(TernHost),
                                 LogOfBackend,
                                 AddInput,
                                 AddOutput,
                                 SetMaxBatchSize,
                                 SetDecoupled,
                                 Allocate,
                                 Give,
                                 Stopped,
                                 InputOf,
                                 ParameterOf,
                                 Cancelled,
                                 NewResponse,
                                 SendResponse,
                                 FinishRequest,
                                 Metric,
                                 Reschedule,
                                 RowParameters,
                                 RowSequence,
                                 AllocateState};
  return host;
}

int32_t AbiType(DType dtype) {
  for (size_t i = 1; i < std::size(kTypes); ++i)
    if (kTypes[i] == dtype) return static_cast<int32_t>(i);
  return TERN_TYPE_INVALID;
}

DType TypeFromAbi(int32_t type) {
  return type >= 0 && type < static_cast<int32_t>(std::size(kTypes)) ? kTypes[type] : DType::kInvalid;
}

Status StatusOf(const TernError& error) {
  if (error.code == TERN_OK) return {};
  const bool known = error.code > 0 && error.code <= TERN_UNAVAILABLE;
  const std::string text(error.message, strnlen(error.message, sizeof error.message));
  return Status(known ? static_cast<Code>(error.code) : Code::kInternal,
                text.empty() ? "the back end failed without a message" : text);
}

int32_t Fail(const Status& status, TernError* error) {
  error->code = std::min(static_cast<int32_t>(status.code()), int32_t{TERN_UNAVAILABLE});
  size_t size = std::min(status.message().size(), sizeof error->message - 1);
  // Truncates before a UTF-8 code point, because a part of a code point would make the text invalid.
  if (size < status.message().size())
    while (size > 0 && (static_cast<unsigned char>(status.message()[size]) & 0xC0) == 0x80) --size;
  std::memcpy(error->message, status.message().data(), size);
  error->message[size] = 0;
  return error->code;
}

TernTensor View(const WireTensor& tensor) {
  return {tensor.name.c_str(), AbiType(tensor.dtype), static_cast<int32_t>(tensor.dims.size()),
          tensor.dims.data(),  tensor.bytes.data(),   tensor.bytes.size()};
}

Buffer AllocateOutput(size_t bytes) { return BufferPool::Shared().Allocate(bytes); }

Result<std::shared_ptr<LoadedBackend>> LoadedBackend::Initialise(const TernBackend* api) {
  if (!api) return InvalidModel("the back end has no interface");
  if (api->version < 1 || api->version > TERN_BACKEND_VERSION)
    return Unsupported("the back end has version ", api->version, " of the interface, this server has 1 to ",
                       TERN_BACKEND_VERSION);
  if (api->size < kFirstSize)
    return Unsupported("the back end's interface has ", api->size, " bytes, expected at least ", kFirstSize);
  if (!api->load || !api->unload || !api->create_instance || !api->destroy_instance ||
      (!api->run && !api->run_request))
    return Unsupported("the back end lacks a function that is not optional");
  std::shared_ptr<LoadedBackend> backend(new LoadedBackend(*api));
  TernError error{};
  if (api->initialise && api->initialise(&Host(), &backend->handle_, &error) != TERN_OK) {
    if (error.code == TERN_OK) error.code = TERN_INTERNAL;
    return StatusOf(error);
  }
  backend->initialised_ = true;
  return backend;
}

LoadedBackend::~LoadedBackend() {
  if (initialised_ && api_.finalise) api_.finalise(handle_);
}

LoadedBackend::LoadedBackend(const TernBackend& api) {
  std::memcpy(&api_, &api, std::min<size_t>(api.size, sizeof api_));
}

}  // namespace tern::server
