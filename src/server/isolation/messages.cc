#include "server/isolation/messages.h"

#include <algorithm>
#include <set>

#include "server/isolation/codec.h"
#include "server/scheduler/wire_tensor.h"

namespace tern::server {
namespace {

constexpr int kMaxRank = 64;
constexpr size_t kMaxText = 8192;  // of an error message

Status Wrong(const char* what) {
  return Status(Code::kInternal, StrCat("the model's process sent a wrong message: ", what));
}

void PutDims(Encoder& out, const Dims& dims) {
  out.Put(static_cast<uint64_t>(dims.size()));
  for (const int64_t dim : dims) out.Put(dim);
}

Dims GetDims(Decoder& in) {
  Dims dims(std::min<size_t>(in.Count(sizeof(int64_t)), kMaxRank + 1));
  for (int64_t& dim : dims) dim = in.Get<int64_t>();
  return dims;
}

DType GetType(Decoder& in) {
  const std::string name = in.Text();
  return name.empty() ? DType::kInvalid : WireType(name);
}

void PutTensor(Encoder& out, const WireTensor& tensor, uint64_t offset, uint64_t bytes) {
  out.Text(tensor.name).Text(WireName(tensor.dtype));
  PutDims(out, tensor.dims);
  out.Put(offset).Put(bytes);
}

ArenaTensor GetTensor(Decoder& in) {
  ArenaTensor out;
  out.tensor.name = in.Text();
  out.tensor.dtype = GetType(in);
  out.tensor.dims = GetDims(in);
  out.offset = in.Get<uint64_t>();
  out.bytes = in.Get<uint64_t>();
  return out;
}

constexpr size_t kTensorBytes = 5 * 8;  // the least bytes of an encoded tensor

void PutValue(Encoder& out, const ParameterValue& value) {
  out.Put(static_cast<uint8_t>(value.index()));
  if (const auto* flag = std::get_if<bool>(&value)) out.Put(static_cast<uint8_t>(*flag));
  if (const auto* number = std::get_if<int64_t>(&value)) out.Put(*number);
  if (const auto* real = std::get_if<double>(&value)) out.Put(*real);
  if (const auto* text = std::get_if<std::string>(&value)) out.Text(*text);
}

ParameterValue GetValue(Decoder& in) {
  switch (in.Get<uint8_t>()) {
    case 0:
      return in.Flag();
    case 1:
      return in.Get<int64_t>();
    case 2:
      return in.Get<double>();
    default:
      return in.Text();
  }
}

void PutRequest(Encoder& out, const Request& request) {
  out.Put(static_cast<uint64_t>(request.parameters.size()));
  for (const auto& [name, value] : request.parameters) {
    out.Text(name);
    PutValue(out, value);
  }
  const SequenceInfo& s = request.sequence;
  out.Text(s.id).Put(uint8_t{s.numeric}).Put(uint8_t{s.start}).Put(uint8_t{s.end});
}

void GetRequest(Decoder& in, Request& request) {
  request.parameters.resize(in.Count(9));
  for (auto& [name, value] : request.parameters) {
    name = in.Text();
    value = GetValue(in);
  }
  SequenceInfo& s = request.sequence;
  s.id = in.Text();
  s.numeric = in.Flag();
  s.start = in.Flag();
  s.end = in.Flag();
}

void PutStatus(Encoder& out, const Status& status) {
  out.Put(static_cast<uint8_t>(status.code()));
  if (!status.ok()) out.Text(status.message());
}

// Sets `status` to what the payload contains.
Status GetStatus(Decoder& in, Status& status) {
  const auto code = in.Get<uint8_t>();
  if (!in.ok() || code > static_cast<uint8_t>(Code::kAlreadyExists)) return Wrong("a status");
  status = {};
  if (code == 0) return {};
  const std::string_view text = in.View().substr(0, kMaxText);
  status = Status(static_cast<Code>(code), std::string(text));
  return in.ok() ? Status() : Wrong("a status");
}

void PutConfigs(Encoder& out, const std::vector<TensorConfig>& tensors) {
  out.Put(static_cast<uint64_t>(tensors.size()));
  for (const TensorConfig& tensor : tensors) {
    out.Text(tensor.name).Text(WireName(tensor.dtype));
    PutDims(out, tensor.dims);
    out.Put(uint8_t{tensor.reshape.has_value()});
    PutDims(out, tensor.reshape.value_or(Dims()));
    out.Put(uint8_t{tensor.optional}).Put(uint8_t{tensor.ragged});
  }
}

Status GetConfigs(Decoder& in, std::vector<TensorConfig>& tensors) {
  tensors.resize(in.Count(35));
  std::set<std::string> names;
  for (TensorConfig& tensor : tensors) {
    tensor.name = in.Text();
    tensor.dtype = GetType(in);
    tensor.dims = GetDims(in);
    const bool reshaped = in.Flag();
    Dims reshape = GetDims(in);
    if (reshaped) tensor.reshape = std::move(reshape);
    tensor.optional = in.Flag();
    tensor.ragged = in.Flag();
    if (!in.ok() || tensor.name.empty() || !names.insert(tensor.name).second) return Wrong("a tensor's name");
    for (const Dims* dims : {&tensor.dims, tensor.reshape ? &*tensor.reshape : &tensor.dims})
      if (dims->size() > kMaxRank ||
          std::any_of(dims->begin(), dims->end(), [](int64_t d) { return d < -1; }))
        return Wrong("a tensor's dims");
  }
  return in.ok() ? Status() : Wrong("the list of tensors");
}

Status End(const Decoder& in, const char* what) { return in.AtEnd() ? Status() : Wrong(what); }

}  // namespace

StartMessage StartOf(const ModelFiles& files, const ModelConfig& config) {
  StartMessage out;
  out.backend = config.backend;
  out.files = files;
  out.config = config.proto;
  out.inputs = config.inputs;
  out.outputs = config.outputs;
  out.max_batch_size = config.max_batch_size;
  out.batch_tensors = !config.batch_inputs.empty() || !config.batch_outputs.empty();
  out.parameters = config.parameters;
  return out;
}

std::string Encode(const StartMessage& m) {
  Encoder out;
  out.Text(m.backend).Text(m.backend_folder).Text(m.files.folder).Text(m.files.file).Text(m.config);
  PutConfigs(out, m.inputs);
  PutConfigs(out, m.outputs);
  out.Put(static_cast<int32_t>(m.max_batch_size)).Put(uint8_t{m.batch_tensors});
  out.Put(static_cast<uint64_t>(m.parameters.size()));
  for (const auto& [name, value] : m.parameters) out.Text(name).Text(value);
  out.Put(uint8_t{m.sandbox}).Put(m.limits).Put(m.server);
  return out.Take();
}

Status Parse(std::string_view payload, StartMessage& m) {
  Decoder in(payload);
  for (std::string* text : {&m.backend, &m.backend_folder, &m.files.folder, &m.files.file, &m.config})
    *text = in.Text();
  TERN_TRY(GetConfigs(in, m.inputs));
  TERN_TRY(GetConfigs(in, m.outputs));
  m.max_batch_size = in.Get<int32_t>();
  m.batch_tensors = in.Flag();
  for (size_t left = in.Count(16); left > 0 && in.ok(); --left) {
    std::string name = in.Text();
    m.parameters[std::move(name)] = in.Text();
  }
  m.sandbox = in.Flag();
  m.limits = in.Get<SandboxLimits>();
  m.server = in.Get<int64_t>();
  return End(in, "start");
}

std::string Encode(const Status& status) {
  Encoder out;
  PutStatus(out, status);
  return out.Take();
}

Status ParseStatus(std::string_view payload, Status& status) {
  Decoder in(payload);
  TERN_TRY(GetStatus(in, status));
  return End(in, "a status");
}

std::string Encode(const Status& status, const LoadedMessage& m) {
  Encoder out;
  PutStatus(out, status);
  PutConfigs(out, m.inputs);
  PutConfigs(out, m.outputs);
  out.Put(static_cast<int32_t>(m.max_batch_size));
  for (const bool flag : {m.batching, m.decoupled, m.parallel, m.runs_calls, m.keeps_sequences})
    out.Put(uint8_t{flag});
  out.Put(m.memory).Text(m.sandbox);
  return out.Take();
}

Status Parse(std::string_view payload, LoadedMessage& m) {
  Decoder in(payload);
  Status status;
  TERN_TRY(GetStatus(in, status));
  TERN_TRY(status);
  TERN_TRY(GetConfigs(in, m.inputs));
  TERN_TRY(GetConfigs(in, m.outputs));
  m.max_batch_size = in.Get<int32_t>();
  if (m.max_batch_size < 0) return Wrong("max_batch_size");
  for (bool* flag : {&m.batching, &m.decoupled, &m.parallel, &m.runs_calls, &m.keeps_sequences})
    *flag = in.Flag();
  m.memory = in.Get<uint64_t>();
  m.sandbox = in.View().substr(0, kMaxText);
  return End(in, "the description of the model");
}

RunMessage RunMessageOf(const Batch& batch) {
  RunMessage m;
  m.threads = batch.threads;
  m.outputs = batch.outputs;
  m.has_requests = batch.requests && batch.items;
  if (!m.has_requests) return m;
  m.items = *batch.items;
  for (const Request* request : *batch.requests) {
    m.present.push_back(request != nullptr);
    Request& copy = m.requests.emplace_back();
    if (!request) continue;
    copy.parameters = request->parameters;
    copy.sequence = request->sequence;
  }
  return m;
}

std::string Encode(const RunMessage& m) {
  Encoder out;
  out.Put(static_cast<int32_t>(m.threads)).Put(m.arena).Put(static_cast<uint64_t>(m.inputs.size()));
  for (const ArenaTensor& input : m.inputs) PutTensor(out, input.tensor, input.offset, input.bytes);
  out.Put(static_cast<uint64_t>(m.outputs.size()));
  for (const std::string& name : m.outputs) out.Text(name);
  out.Put(uint8_t{m.has_requests}).Put(static_cast<uint64_t>(m.requests.size()));
  for (size_t i = 0; i < m.requests.size(); ++i) {
    out.Put(m.items[i]).Put(m.present[i]);
    PutRequest(out, m.requests[i]);
  }
  return out.Take();
}

Status Parse(std::string_view payload, RunMessage& m) {
  Decoder in(payload);
  m.threads = in.Get<int32_t>();
  m.arena = in.Get<uint64_t>();
  m.inputs.resize(in.Count(kTensorBytes));
  for (ArenaTensor& input : m.inputs) {
    input = GetTensor(in);
    if (input.offset > m.arena || input.bytes > m.arena - input.offset) return Wrong("an input");
  }
  m.outputs.resize(in.Count(8));
  for (std::string& name : m.outputs) name = in.Text();
  m.has_requests = in.Flag();
  const size_t count = in.Count(28);
  m.requests.resize(count);
  for (Request& request : m.requests) {
    m.items.push_back(in.Get<int64_t>());
    m.present.push_back(in.Flag());
    GetRequest(in, request);
  }
  return End(in, "an execution");
}

std::string Encode(const Status& status, const RanMessage& m) {
  Encoder out;
  PutStatus(out, status);
  out.Put(m.cpu_ns).Put(static_cast<uint64_t>(m.outputs.size()));
  for (const ArenaTensor& output : m.outputs) PutTensor(out, output.tensor, output.offset, output.bytes);
  out.Put(static_cast<uint64_t>(m.again.size()));
  for (const AgainRow& row : m.again) out.Put(row.row).Put(uint8_t{row.respond});
  return out.Take();
}

Status Parse(std::string_view payload, RanMessage& m, bool& broken) {
  Decoder in(payload);
  Status status;
  broken = true;
  TERN_TRY(GetStatus(in, status));
  m.cpu_ns = in.Get<uint64_t>();
  m.outputs.resize(in.Count(kTensorBytes));
  for (ArenaTensor& output : m.outputs) {
    output = GetTensor(in);
    if (in.ok()) TERN_TRY(CheckShape(output.tensor, output.bytes));
  }
  m.again.resize(in.Count(9));
  for (AgainRow& row : m.again) {
    row.row = in.Get<uint64_t>();
    row.respond = in.Flag();
  }
  TERN_TRY(End(in, "the result of an execution"));
  broken = false;
  return status;
}

std::string Encode(uint64_t instance, const Request& request) {
  Encoder out;
  out.Put(instance).Text(request.id).Put(static_cast<uint64_t>(request.inputs.size()));
  for (const WireTensor& input : request.inputs) {
    PutTensor(out, input, 0, input.bytes.size());
    out.Text({reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size()});
  }
  out.Put(static_cast<uint64_t>(request.outputs.size()));
  for (const RequestedOutput& output : request.outputs) out.Text(output.name);
  PutRequest(out, request);
  return out.Take();
}

static Buffer CopyOf(std::string_view bytes) {
  Buffer out = Buffer::Allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

Status Parse(std::string_view payload, CallMessage& m) {
  Decoder in(payload);
  m.instance = in.Get<uint64_t>();
  m.request.id = in.Text();
  m.request.inputs.resize(in.Count(kTensorBytes + 8));
  for (WireTensor& input : m.request.inputs) {
    input = GetTensor(in).tensor;
    input.bytes = CopyOf(in.View());
  }
  m.request.outputs.resize(in.Count(8));
  for (RequestedOutput& output : m.request.outputs) output.name = in.Text();
  GetRequest(in, m.request);
  return End(in, "a call");
}

std::string Encode(const Response& response) {
  Encoder out;
  PutStatus(out, response.status);
  out.Put(uint8_t{response.final}).Put(static_cast<uint64_t>(response.outputs.size()));
  for (const WireTensor& output : response.outputs) {
    PutTensor(out, output, 0, output.bytes.size());
    out.Text({reinterpret_cast<const char*>(output.bytes.data()), output.bytes.size()});
  }
  return out.Take();
}

Status Parse(std::string_view payload, Response& response) {
  Decoder in(payload);
  TERN_TRY(GetStatus(in, response.status));
  response.final = in.Flag();
  response.outputs.resize(in.Count(kTensorBytes + 8));
  for (WireTensor& output : response.outputs) {
    output = GetTensor(in).tensor;
    output.bytes = CopyOf(in.View());
    if (!in.ok()) break;
    TERN_TRY(CheckShape(output, output.bytes.size()));
    TERN_TRY(CheckStrings(output));
  }
  return End(in, "a response");
}

std::string Encode(const StatisticsMessage& m) {
  Encoder out;
  out.Put(m.memory).Put(static_cast<uint64_t>(m.values.size()));
  for (const auto& [name, value] : m.values) out.Text(name).Put(value);
  return out.Take();
}

Status Parse(std::string_view payload, StatisticsMessage& m) {
  constexpr size_t kMaxValues = 1000, kMaxName = 256;
  Decoder in(payload);
  m.memory = in.Get<uint64_t>();
  m.values.resize(in.Count(16));
  if (m.values.size() > kMaxValues) return Wrong("too many statistics");
  for (auto& [name, value] : m.values) {
    name = in.View().substr(0, kMaxName);
    value = in.Get<double>();
  }
  return End(in, "statistics");
}

Status CheckShape(const WireTensor& tensor, uint64_t bytes) {
  if (tensor.name.empty()) return Wrong("an output without a name");
  if (tensor.dtype == DType::kInvalid || !*WireName(tensor.dtype)) return Wrong("the type of an output");
  if (tensor.dims.size() > kMaxRank) return Wrong("the rank of an output");
  if (!CheckedCount(tensor.dims, tensor.dtype)) return Wrong("the dims of an output");
  if (tensor.dtype != DType::kString && FixedBytes(tensor.dtype, tensor.dims) != bytes)
    return Wrong("the size of an output");
  return {};
}

Status CheckStrings(const WireTensor& tensor) {
  if (tensor.dtype != DType::kString) return {};
  const auto count = ElementCount(tensor.dims);
  if (!count) return Wrong("the dims of an output");
  const StringWalk walk = SkipStrings(tensor.bytes, 0, *count);
  if (walk.elements != *count || walk.offset != tensor.bytes.size()) return Wrong("the texts of an output");
  return {};
}

}  // namespace tern::server
