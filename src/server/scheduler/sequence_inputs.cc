#include <algorithm>
#include <cstring>

#include "server/scheduler/batch_builder.h"
#include "server/scheduler/sequence.h"
#include "server/scheduler/wire_tensor.h"

namespace tern::server {
namespace {

template <class T> void Append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

Status AppendNumber(DType dtype, double value, const std::string& name, std::string& out) {
  switch (dtype) {
    case DType::kF32:
      Append(out, static_cast<float>(value));
      return {};
    case DType::kI32:
      Append(out, static_cast<int32_t>(value));
      return {};
    case DType::kBool:
      Append(out, static_cast<uint8_t>(value != 0));
      return {};
    default:
      return Unsupported("control input '", name, "' has type ", DTypeName(dtype));
  }
}

Status AppendId(DType dtype, const std::string& id, const std::string& name, std::string& out) {
  uint64_t number = 0;
  for (const char c : id) number = number * 10 + (c >= '0' && c <= '9' ? static_cast<uint64_t>(c - '0') : 0);
  switch (dtype) {
    case DType::kString:
      Append(out, static_cast<uint32_t>(id.size()));
      out += id;
      return {};
    case DType::kU64:
    case DType::kI64:
      Append(out, number);
      return {};
    case DType::kU32:
    case DType::kI32:
      Append(out, static_cast<uint32_t>(number));
      return {};
    default:
      return Unsupported("control input '", name, "' has type ", DTypeName(dtype));
  }
}

Status AppendControl(const ControlInput& control, const QueuedCallPtr& call, std::string& out) {
  using Kind = ControlInput::Kind;
  static const SequenceInfo kNone;
  const SequenceInfo& sequence = call ? call->call->request.sequence : kNone;
  if (control.kind == Kind::kCorrelationId) return AppendId(control.dtype, sequence.id, control.name, out);
  const bool set = control.kind == Kind::kStart ? sequence.start
                   : control.kind == Kind::kEnd ? sequence.end
                                                : call != nullptr;
  return AppendNumber(control.dtype, set ? control.true_value : control.false_value, control.name, out);
}

Buffer CopyOf(const std::string& bytes) {
  Buffer buffer = AllocateRaw(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return buffer;
}

Result<WireTensor> InitialState(const StateConfig& state) {
  WireTensor tensor{state.input, state.dtype, state.dims, {}};
  for (int64_t& dim : tensor.dims)
    if (dim < 0) dim = 1;
  const auto elements = ElementCount(tensor.dims);
  const size_t width = state.dtype == DType::kString ? sizeof(uint32_t) : ElementBytes(state.dtype);
  size_t bytes = 0;
  if (!elements || width == 0 || __builtin_mul_overflow(static_cast<size_t>(*elements), width, &bytes))
    return InvalidArgument("state '", state.input, "' has an invalid type or shape ", DimsText(state.dims));
  if (state.zero_initial || state.initial_file.empty()) {
    tensor.bytes = Buffer::Allocate(bytes);
    return tensor;
  }
  TERN_ASSIGN(tensor.bytes, Buffer::MapFile(state.initial_file));
  if (state.dtype != DType::kString && tensor.bytes.size() != bytes)
    return InvalidArgument("the initial value of state '", state.input, "' has ", tensor.bytes.size(),
                           " bytes, expected ", bytes);
  return tensor;
}

// Returns a tensor of zeros with the type and shape of `like`. For BYTES, the elements are empty strings.
Result<WireTensor> Zeros(const WireTensor& like) {
  const auto elements = ElementCount(like.dims);
  const size_t width = like.dtype == DType::kString ? sizeof(uint32_t) : ElementBytes(like.dtype);
  size_t bytes = 0;
  if (!elements || __builtin_mul_overflow(static_cast<size_t>(*elements), width, &bytes))
    return ResourceExhausted("state '", like.name, "' of shape ", DimsText(like.dims), " has too many bytes");
  return WireTensor{like.name, like.dtype, like.dims, Buffer::Allocate(bytes)};
}

}  // namespace

Result<SequenceInputs> SequenceInputs::Create(const ModelConfig& config) {
  SequenceInputs inputs(config);
  for (const ControlInput& control : config.sequence->controls)
    inputs.has_ready_ |= control.kind == ControlInput::Kind::kReady;
  for (const StateConfig& state : config.sequence->states) {
    TERN_ASSIGN(WireTensor initial, Guard([&] { return InitialState(state); }));
    inputs.initial_.push_back(std::move(initial));
  }
  return inputs;
}

Result<WireTensor> SequenceInputs::Control(const ControlInput& control, const Pick& pick) const {
  std::string bytes;
  for (const QueuedCallPtr& call : pick.calls) TERN_TRY(AppendControl(control, call, bytes));
  const auto count = static_cast<int64_t>(pick.calls.size());
  return WireTensor{control.name, control.dtype, batched() ? Dims{count, 1} : Dims{1}, CopyOf(bytes)};
}

Result<WireTensor> SequenceInputs::State(size_t index, const Pick& pick) const {
  std::vector<const WireTensor*> parts;
  size_t bytes = 0;
  const WireTensor* like = &initial_[index];
  for (size_t i = 0; i < pick.calls.size(); ++i) {
    const bool kept = pick.calls[i] && !pick.sequences[i]->states.empty();
    parts.push_back(kept ? &pick.sequences[i]->states[index] : &initial_[index]);
    if (pick.calls[i]) like = parts.back();
  }
  // An empty slot has the shape of the others, whose states may have grown.
  TERN_ASSIGN(const WireTensor empty, like->dims == initial_[index].dims ? initial_[index] : Zeros(*like));
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!pick.calls[i]) parts[i] = &empty;
    if (__builtin_add_overflow(bytes, parts[i]->bytes.size(), &bytes))
      return ResourceExhausted("the states of the batch have too many bytes");
  }
  WireTensor joined{initial_[index].name, like->dtype, like->dims, parts[0]->bytes};
  if (batched()) joined.dims.insert(joined.dims.begin(), static_cast<int64_t>(parts.size()));
  if (parts.size() == 1) return joined;
  joined.bytes = AllocateRaw(bytes);
  size_t offset = 0;
  for (const WireTensor* part : parts) {
    if (part->bytes.size() > 0)
      std::memcpy(joined.bytes.data() + offset, part->bytes.data(), part->bytes.size());
    offset += part->bytes.size();
  }
  return joined;
}

Status SequenceInputs::Add(const Pick& pick, Batch& batch) const {
  for (size_t i = 0; i < pick.calls.size(); ++i)
    if (pick.calls[i] && pick.calls[i]->call->request.sequence.start) pick.sequences[i]->states.clear();
  for (const ControlInput& control : config_->sequence->controls) {
    TERN_ASSIGN(WireTensor tensor, Control(control, pick));
    batch.inputs.push_back(std::move(tensor));
  }
  for (size_t i = 0; i < initial_.size(); ++i) {
    TERN_ASSIGN(WireTensor tensor, State(i, pick));
    batch.inputs.push_back(std::move(tensor));
  }
  if (batch.outputs.empty()) return {};  // all
  for (const StateConfig& state : config_->sequence->states)
    if (std::find(batch.outputs.begin(), batch.outputs.end(), state.output) == batch.outputs.end())
      batch.outputs.push_back(state.output);
  return {};
}

void SequenceInputs::Keep(const Pick& pick, std::vector<WireTensor>& outputs) const {
  std::vector<std::vector<WireTensor>> kept(pick.calls.size());
  for (size_t s = 0; s < initial_.size(); ++s) {
    const WireTensor* output = FindTensor(outputs, config_->sequence->states[s].output);
    auto offsets = output && batched() ? ItemOffsets(*output) : Result<std::vector<size_t>>(Status());
    for (size_t i = 0; i < pick.calls.size(); ++i) {
      if (!pick.calls[i]) continue;
      // If the model returns no new value for a state, the state keeps its old value.
      const auto& old = pick.sequences[i]->states;
      WireTensor state = old.empty() ? initial_[s] : old[s];
      if (output && !batched()) {
        state.dims = output->dims;
        state.bytes = output->bytes;
      } else if (output && offsets.ok() && offsets->size() == pick.calls.size() + 1) {
        state.dims.assign(output->dims.begin() + 1, output->dims.end());
        state.bytes = output->bytes.Slice((*offsets)[i], (*offsets)[i + 1] - (*offsets)[i]);
      }
      kept[i].push_back(std::move(state));
    }
  }
  for (size_t i = 0; i < pick.calls.size(); ++i)
    if (pick.calls[i]) pick.sequences[i]->states = std::move(kept[i]);
  std::erase_if(outputs, [&](const WireTensor& output) {
    return IsState(output.name) && !config_->FindOutput(output.name);
  });
}

bool SequenceInputs::IsState(const std::string& output) const {
  const auto& states = config_->sequence->states;
  return std::any_of(states.begin(), states.end(), [&](const StateConfig& c) { return c.output == output; });
}

bool SequenceInputs::SameStates(const Sequence& a, const Sequence& b) const {
  // The next request may restart the sequence.
  const auto fresh = [](const Sequence& s) {
    return s.states.empty() || (!s.waiting.empty() && s.waiting.front()->call->request.sequence.start);
  };
  for (size_t i = 0; i < initial_.size(); ++i) {
    const Dims& x = fresh(a) ? initial_[i].dims : a.states[i].dims;
    const Dims& y = fresh(b) ? initial_[i].dims : b.states[i].dims;
    if (x != y) return false;
  }
  return true;
}

}  // namespace tern::server
