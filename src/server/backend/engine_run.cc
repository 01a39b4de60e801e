// Executes batches on the built-in engine. Outputs whose size is known before the run are written directly to
// the memory of the response. Other outputs are copied once.
#include <algorithm>
#include <cstring>

#include "server/backend/engine_model.h"
#include "server/backend/wire_strings.h"

namespace tern::server {
namespace {

const TernTensor* FindInput(const TernBatch& batch, const std::string& name) {
  for (uint64_t i = 0; i < batch.input_count; ++i)
    if (name == batch.inputs[i].name) return &batch.inputs[i];
  return nullptr;
}

bool Wanted(const TernBatch& batch, const std::string& name) {
  if (batch.output_count == 0) return true;
  return std::any_of(batch.outputs, batch.outputs + batch.output_count,
                     [&](const char* output) { return name == output; });
}

TernTensor Named(const std::string& name, const Tensor& tensor, uint64_t bytes) {
  return {name.c_str(), AbiType(tensor.dtype()), tensor.rank(), tensor.dims().data(), nullptr, bytes};
}

// Returns a view of the input's bytes, or a copy if the bytes are not aligned to the element size.
Result<Tensor> NumbersOf(const TernTensor& input, DType dtype, Dims dims) {
  const auto count = CheckedCount(dims, dtype);
  const size_t expected = count ? BytesOf(dtype, static_cast<size_t>(*count)) : 0;
  if (!count || expected != input.bytes)
    return InvalidArgument("input '", input.name, "' is ", tern::Describe(dtype, dims), ", but has ",
                           input.bytes, " bytes");
  const size_t element = std::max<size_t>(1, BytesOf(dtype, 1));
  if (expected && reinterpret_cast<uintptr_t>(input.data) % element == 0)
    return Tensor::View(Buffer::Borrow(const_cast<void*>(input.data), expected, nullptr), dtype,
                        std::move(dims));
  Buffer copy = AllocateOutput(expected);
  if (!copy.defined()) return ResourceExhausted("no memory for input '", input.name, "'");
  if (expected) std::memcpy(copy.data(), input.data, expected);
  return Tensor::View(std::move(copy), dtype, std::move(dims));
}

}  // namespace

Status EngineInstance::BindInput(int i, const TernTensor& input) {
  const DType dtype = TypeFromAbi(input.type);
  Dims dims(input.dims, input.dims + input.rank);
  if (dtype == DType::kString) {
    TERN_ASSIGN(Tensor strings, DecodeStrings(input.name, input.data, input.bytes, std::move(dims)));
    return session_->BindInput(i, Datum(std::move(strings)));
  }
  TERN_ASSIGN(Tensor numbers, NumbersOf(input, dtype, std::move(dims)));
  return session_->BindInput(i, Datum(std::move(numbers)));
}

Status EngineInstance::BindInputs(const TernBatch& batch) {
  const auto& inputs = session_->graph().inputs();
  for (int i = 0; i < session_->InputCount(); ++i) {
    if (session_->IsStateInput(i)) continue;
    const std::string& name = inputs[static_cast<size_t>(i)]->name;
    const TernTensor* input = FindInput(batch, name);
    if (!input) return InvalidArgument("input '", name, "' is missing");
    TERN_TRY(BindInput(i, *input));
  }
  return {};
}

Status EngineInstance::BindOutputs(const TernBatch& batch, TernOutputs* outputs) {
  deliveries_.assign(static_cast<size_t>(session_->OutputCount()), Delivery::kNone);
  for (int i = 0; i < session_->OutputCount(); ++i) {
    const std::string& name = session_->graph().outputs()[static_cast<size_t>(i)]->name;
    Tensor bound;
    if (!session_->IsStateOutput(i) && Wanted(batch, name)) {
      deliveries_[static_cast<size_t>(i)] = Delivery::kCopy;
      const Tensor planned = session_->PlannedOutput(i);
      if (planned.defined() && planned.dtype() != DType::kString) {
        const TernTensor output = Named(name, planned, planned.bytes());
        void* memory = Host().allocate(outputs, &output);
        TERN_TRY(outputs->status);
        bound =
            Tensor::View(Buffer::Borrow(memory, planned.bytes(), nullptr), planned.dtype(), planned.dims());
        deliveries_[static_cast<size_t>(i)] = Delivery::kBound;
      }
    }
    TERN_TRY(session_->BindOutput(i, bound));
  }
  return {};
}

Status EngineInstance::GiveOutput(const std::string& name, const Datum& datum, TernOutputs* outputs) {
  if (!datum.is_tensor() || !datum.tensor.defined())
    return Unsupported("output '", name, "' is not a tensor; clients can use tensors only");
  const Tensor tensor = datum.tensor.Contiguous();
  const bool strings = tensor.dtype() == DType::kString;
  const uint64_t bytes = strings ? EncodedBytes(tensor) : tensor.bytes();
  const TernTensor output = Named(name, tensor, bytes);
  void* memory = Host().allocate(outputs, &output);
  TERN_TRY(outputs->status);
  if (strings)
    EncodeStrings(tensor, static_cast<std::byte*>(memory));
  else if (bytes)
    std::memcpy(memory, tensor.raw(), bytes);
  return {};
}

Status EngineInstance::GiveOthers(TernOutputs* outputs) {
  for (int i = 0; i < session_->OutputCount(); ++i)
    if (deliveries_[static_cast<size_t>(i)] == Delivery::kCopy)
      TERN_TRY(GiveOutput(session_->graph().outputs()[static_cast<size_t>(i)]->name, session_->Output(i),
                          outputs));
  return {};
}

Status EngineInstance::Run(const TernBatch& batch, TernOutputs* outputs) {
  session_->SetThreads(batch.threads);
  // `stop` is a Stop of the server. The built-in engine reads it directly. Plug-ins call TernHost::stopped.
  session_->SetStop(batch.stop ? *static_cast<const Stop*>(batch.stop) : Stop());
  // Executions belong to different clients, so an execution must not see the states that an earlier one left.
  if (!session_->graph().states().empty()) session_->ResetState();
  TERN_TRY(BindInputs(batch));
  TERN_TRY(session_->Prepare());
  TERN_TRY(BindOutputs(batch, outputs));
  TERN_TRY(session_->Run());
  return GiveOthers(outputs);
}

}  // namespace tern::server
