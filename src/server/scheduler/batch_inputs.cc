// Makes the additional inputs that describe a batch of ragged tensors.
#include <algorithm>
#include <cstring>

#include "server/scheduler/batch_builder.h"
#include "server/scheduler/wire_tensor.h"

namespace tern::server {
namespace {

template <class T> void Store(const std::vector<int64_t>& values, Buffer& out) {
  out = AllocateRaw(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
  }
}

Result<WireTensor> MakeTensor(const std::string& name, DType dtype, Dims dims,
                              const std::vector<int64_t>& values) {
  WireTensor tensor{name, dtype, std::move(dims), {}};
  switch (dtype) {
    case DType::kF32:
      Store<float>(values, tensor.bytes);
      return tensor;
    case DType::kF64:
      Store<double>(values, tensor.bytes);
      return tensor;
    case DType::kI32:
      Store<int32_t>(values, tensor.bytes);
      return tensor;
    case DType::kI64:
      Store<int64_t>(values, tensor.bytes);
      return tensor;
    case DType::kU32:
      Store<uint32_t>(values, tensor.bytes);
      return tensor;
    case DType::kU64:
      Store<uint64_t>(values, tensor.bytes);
      return tensor;
    default:
      return Unsupported("batch input '", name, "' has type ", DTypeName(dtype));
  }
}

// Returns the number of elements of input `source` for each request.
std::vector<int64_t> ElementCounts(const BatchLayout& layout, const std::string& source) {
  std::vector<int64_t> counts;
  for (const Request* request : layout.requests) {
    const WireTensor* tensor = request ? FindTensor(request->inputs, source) : nullptr;
    counts.push_back(tensor ? ElementCount(tensor->dims).value_or(0) : 0);
  }
  return counts;
}

// Returns the concatenated shapes of all items, without the batch dim. Sets `rank` to the length of one
// shape.
std::vector<int64_t> ItemShapes(const BatchLayout& layout, const std::string& source, int64_t& rank) {
  std::vector<int64_t> shapes;
  for (size_t i = 0; i < layout.requests.size(); ++i) {
    const WireTensor* tensor = layout.requests[i] ? FindTensor(layout.requests[i]->inputs, source) : nullptr;
    if (!tensor || tensor->dims.empty()) continue;
    rank = static_cast<int64_t>(tensor->dims.size()) - 1;
    for (int64_t k = 0; k < layout.items[i]; ++k)
      shapes.insert(shapes.end(), tensor->dims.begin() + 1, tensor->dims.end());
  }
  return shapes;
}

Dims OneDim(const std::vector<int64_t>& values) { return {static_cast<int64_t>(values.size())}; }

Result<WireTensor> MakeShapes(const BatchInput& spec, const std::string& name, const BatchLayout& layout) {
  int64_t rank = 0;
  const std::vector<int64_t> shapes = ItemShapes(layout, spec.sources[0], rank);
  const bool flat = spec.kind == BatchInput::Kind::kItemShapeFlatten;
  const int64_t items = rank > 0 ? static_cast<int64_t>(shapes.size()) / rank : layout.total;
  return MakeTensor(name, spec.dtype, flat ? OneDim(shapes) : Dims{items, rank}, shapes);
}

Result<WireTensor> MakeBatchInput(const BatchInput& spec, const std::string& name,
                                  const BatchLayout& layout) {
  using Kind = BatchInput::Kind;
  if (spec.kind == Kind::kItemShape || spec.kind == Kind::kItemShapeFlatten)
    return MakeShapes(spec, name, layout);
  std::vector<int64_t> values = ElementCounts(layout, spec.sources[0]);
  if (spec.kind == Kind::kMaxElementCountAsShape) {
    const int64_t most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
    return MakeTensor(name, spec.dtype, {most}, std::vector<int64_t>(static_cast<size_t>(most)));
  }
  if (spec.kind != Kind::kElementCount)
    for (size_t i = 1; i < values.size(); ++i) values[i] += values[i - 1];
  if (spec.kind == Kind::kAccumulatedElementCountWithZero) values.insert(values.begin(), 0);
  return MakeTensor(name, spec.dtype, OneDim(values), values);
}

}  // namespace

Status AddBatchInputs(const ModelConfig& config, const BatchLayout& layout, std::vector<WireTensor>& inputs) {
  for (const BatchInput& spec : config.batch_inputs) {
    if (spec.sources.empty())
      return InvalidArgument("a batch input of model '", config.name, "' has no source");
    for (const std::string& name : spec.targets) {
      TERN_ASSIGN(WireTensor tensor, MakeBatchInput(spec, name, layout));
      inputs.push_back(std::move(tensor));
    }
  }
  return {};
}

}  // namespace tern::server
