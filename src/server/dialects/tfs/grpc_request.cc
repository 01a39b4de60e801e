#include "server/dialects/tfs/grpc_request.h"

#include <algorithm>

#include "server/dialects/tfs/tensor_proto.h"
#include "server/grpc/proto_wire.h"

namespace tern::server::tfs {
namespace {

Status Damaged() { return InvalidArgument("the request is not a message of this method"); }

// tensorflow.serving.ModelSpec: name (1), version (2, in a message), signature_name (3), version_label (4).
bool ReadSpec(std::string_view bytes, ModelSpec& spec) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    if (reader.kind() != ProtoKind::kBytes) continue;
    if (reader.field() == 2) {
      int64_t version = 0;
      ProtoReader number(reader.bytes());
      while (number.Next())
        if (number.Is(1, ProtoKind::kVarint)) version = static_cast<int64_t>(number.value());
      if (!number.ok()) return false;
      spec.version = std::to_string(version);
      spec.label.clear();
      continue;
    }
    if (reader.field() > 4) continue;
    if (!IsUtf8(reader.bytes())) return false;
    if (reader.field() == 1) spec.model = reader.bytes();
    if (reader.field() == 3) spec.signature = reader.bytes();
    if (reader.field() == 4) {
      spec.label = reader.bytes();
      spec.version.clear();
    }
  }
  return reader.ok();
}

class Parser {
 public:
  Parser(GrpcMethod method, const Buffer& message, const InferParseOptions& options, GrpcRequest& request,
         InferMessage& out)
      : method_(method), message_(message), options_(options), request_(request), out_(out) {}

  Status Parse() {
    if (method_ != GrpcMethod::kMultiInference) request_.tasks.resize(1);
    ProtoReader reader({reinterpret_cast<const char*>(message_.data()), message_.size()});
    while (reader.Next())
      if (reader.kind() == ProtoKind::kBytes) TERN_TRY(ReadField(reader.field(), reader.bytes()));
    if (!reader.ok()) return Damaged();
    if (method_ == GrpcMethod::kMultiInference) TERN_TRY(CheckTasks());
    if (method_ != GrpcMethod::kPredict && request_.examples.items.empty())
      return InvalidArgument("Input is empty");
    if (request_.tasks[0].spec.model.empty()) return InvalidArgument("Missing ModelSpec");
    return {};
  }

 private:
  Status ReadField(uint32_t field, std::string_view bytes) {
    if (field == 1) return method_ == GrpcMethod::kMultiInference ? ReadTask(bytes) : ReadModel(bytes);
    if (field == 2) return method_ == GrpcMethod::kPredict ? ReadInput(bytes) : ReadExamples(bytes);
    if (field == 3 && method_ == GrpcMethod::kPredict) return ReadFilter(bytes);
    return {};
  }

  Status ReadModel(std::string_view bytes) {
    return ReadSpec(bytes, request_.tasks[0].spec) ? Status() : Damaged();
  }

  Status ReadTask(std::string_view bytes) {
    if (request_.tasks.size() >= options_.tensors) return TooMany("tasks");
    Task& task = request_.tasks.emplace_back();
    ProtoReader reader(bytes);
    while (reader.Next()) {
      if (reader.Is(1, ProtoKind::kBytes) && !ReadSpec(reader.bytes(), task.spec)) return Damaged();
      if (reader.Is(2, ProtoKind::kBytes)) task.method = reader.bytes();
    }
    return reader.ok() && IsUtf8(task.method) ? Status() : Damaged();
  }

  Status CheckTasks() const {
    if (request_.tasks.empty()) return InvalidArgument("Inference request must have at least one task");
    for (const Task& task : request_.tasks) {
      if (task.spec.model != request_.tasks[0].spec.model)
        return InvalidArgument("All ModelSpecs in a MultiInferenceRequest must access the same model name.");
      if (task.method != kClassifyMethod && task.method != kRegressMethod)
        return Unsupported("Unsupported signature method_name: ", task.method);
    }
    return {};
  }

  Status TooMany(const char* what) const {
    return InvalidArgument("the request has more than ", options_.tensors, " ", what);
  }

  // An entry of the map from names to tensors.
  Status ReadInput(std::string_view bytes) {
    std::vector<WireTensor>& inputs = out_.request.inputs;
    if (inputs.size() >= options_.tensors) return TooMany("inputs");
    std::string_view name, tensor;
    ProtoReader reader(bytes);
    while (reader.Next()) {
      if (reader.Is(1, ProtoKind::kBytes)) name = reader.bytes();
      if (reader.Is(2, ProtoKind::kBytes)) tensor = reader.bytes();
    }
    if (!reader.ok() || !IsUtf8(name)) return Damaged();
    // In a map, the last entry of a name counts.
    std::erase_if(inputs, [&](const WireTensor& other) { return other.name == name; });
    WireTensor& input = inputs.emplace_back();
    input.name = name;
    // All inputs together have one limit, because a list of one value may fill a tensor of any size.
    const uint64_t left = options_.bytes - std::min(options_.bytes, out_.converted);
    return ReadTensorProto(message_, tensor, left, input, out_.converted);
  }

  Status ReadFilter(std::string_view name) {
    if (out_.request.outputs.size() >= options_.tensors) return TooMany("outputs");
    if (!IsUtf8(name)) return Damaged();
    for (const RequestedOutput& other : out_.request.outputs)
      if (other.name == name) return InvalidArgument("duplicate output tensor alias: ", name);
    out_.request.outputs.push_back({std::string(name), 0});
    return {};
  }

  // tensorflow.serving.Input: example_list (1), or example_list_with_context (2) with examples (1) and
  // context (2).
  Status ReadExamples(std::string_view bytes) {
    ProtoReader input(bytes);
    while (input.Next()) {
      if (!input.Is(1, ProtoKind::kBytes) && !input.Is(2, ProtoKind::kBytes)) continue;
      const bool with_context = input.field() == 2;
      ProtoReader list(input.bytes());
      while (list.Next()) {
        if (list.Is(1, ProtoKind::kBytes)) TERN_TRY(AddExample(list.bytes()));
        if (with_context && list.Is(2, ProtoKind::kBytes))
          TERN_TRY(ReadExample(list.bytes(), options_.tensors, request_.examples.context));
      }
      if (!list.ok()) return Damaged();
    }
    return input.ok() ? Status() : Damaged();
  }

  Status AddExample(std::string_view bytes) {
    if (request_.examples.items.size() >= kMostExamples)
      return InvalidArgument("the request has more than ", kMostExamples, " examples");
    return ReadExample(bytes, options_.tensors, request_.examples.items.emplace_back());
  }

  const GrpcMethod method_;
  const Buffer& message_;
  const InferParseOptions& options_;
  GrpcRequest& request_;
  InferMessage& out_;
};

uint64_t Times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX / 2 : std::min(product, UINT64_MAX / 2);
}

uint64_t ElementsOf(std::string_view shape) {
  uint64_t elements = 1;
  ProtoReader reader(shape);
  while (reader.Next()) {
    if (!reader.Is(2, ProtoKind::kBytes)) continue;
    uint64_t size = 0;
    ProtoReader dim(reader.bytes());
    while (dim.Next())
      if (dim.Is(1, ProtoKind::kVarint)) size = dim.value();
    elements = Times(elements, size);
  }
  return elements;
}

// An entry of the map from names to tensors. The longest text of a tensor counts for all its elements.
uint64_t ClaimOfInput(std::string_view entry) {
  constexpr uint64_t kWidest = 8;
  uint64_t claimed = 0;
  ProtoReader reader(entry);
  while (reader.Next()) {
    if (!reader.Is(2, ProtoKind::kBytes)) continue;
    uint64_t elements = 1, width = kWidest;
    ProtoReader tensor(reader.bytes());
    while (tensor.Next()) {
      if (tensor.Is(2, ProtoKind::kBytes)) elements = ElementsOf(tensor.bytes());
      if (tensor.Is(8, ProtoKind::kBytes)) width = std::max<uint64_t>(width, tensor.bytes().size());
    }
    claimed = Times(elements, width);
  }
  return claimed;
}

// Adds the number of examples of a tensorflow.serving.Input, and the bytes of its context. Every example gets
// the context, also if they are in different lists or in different fields of the request.
void CountExamples(std::string_view input, uint64_t& examples, uint64_t& context) {
  ProtoReader reader(input);
  while (reader.Next()) {
    if (!reader.Is(1, ProtoKind::kBytes) && !reader.Is(2, ProtoKind::kBytes)) continue;
    ProtoReader list(reader.bytes());
    while (list.Next()) {
      examples += list.Is(1, ProtoKind::kBytes);
      if (reader.field() == 2 && list.Is(2, ProtoKind::kBytes)) context += list.bytes().size();
    }
  }
}

}  // namespace

bool StandsForMore(GrpcMethod method, const Buffer& message, uint64_t bytes) {
  uint64_t inputs = 0, tasks = 0, examples = 0, context = 0;
  ProtoReader reader({reinterpret_cast<const char*>(message.data()), message.size()});
  while (reader.Next() && inputs <= bytes) {
    tasks += reader.Is(1, ProtoKind::kBytes);
    if (!reader.Is(2, ProtoKind::kBytes)) continue;
    if (method == GrpcMethod::kPredict)
      inputs += ClaimOfInput(reader.bytes());
    else
      CountExamples(reader.bytes(), examples, context);
  }
  if (method == GrpcMethod::kPredict) return inputs > bytes;
  const uint64_t made = Times(examples, context);
  return (method == GrpcMethod::kMultiInference ? Times(tasks, made + message.size()) : made) > bytes;
}

ModelSpec PeekSpec(GrpcMethod method, const Buffer& message) {
  ModelSpec spec;
  ProtoReader reader({reinterpret_cast<const char*>(message.data()), message.size()});
  if (method == GrpcMethod::kMultiInference || !reader.Next() || !reader.Is(1, ProtoKind::kBytes))
    return spec;
  return ReadSpec(reader.bytes(), spec) ? spec : ModelSpec();
}

Status ReadGrpcRequest(GrpcMethod method, const Buffer& message, const InferParseOptions& options,
                       GrpcRequest& request, InferMessage& out) {
  return Guard([&] { return Parser(method, message, options, request, out).Parse(); });
}

}  // namespace tern::server::tfs
