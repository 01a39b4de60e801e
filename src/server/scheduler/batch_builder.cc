#include "server/scheduler/batch_builder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "server/scheduler/wire_tensor.h"

namespace tern::server {

const WireTensor* FindTensor(const std::vector<WireTensor>& tensors, std::string_view name) {
  for (const WireTensor& tensor : tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

Buffer AllocateRaw(size_t bytes) {
  constexpr size_t kAlign = 64;
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  void* data = std::aligned_alloc(kAlign, std::max(kAlign, (bytes + kAlign - 1) / kAlign * kAlign));
  if (!data) throw std::bad_alloc();
  return Buffer::Borrow(data, bytes, std::shared_ptr<void>(data, std::free));
}

Dims Reshaped(const Dims& value, const Dims& from, const Dims& to) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < from.size() && i < value.size(); ++i)
    if (from[i] < 0) sizes.push_back(value[i]);
  Dims out = to;
  size_t next = 0;
  for (int64_t& dim : out)
    if (dim < 0 && next < sizes.size()) dim = sizes[next++];
  return out;
}

bool CanShareBatch(const ModelConfig& config, const Request& a, const Request& b) {
  if (a.inputs.size() != b.inputs.size()) return false;
  for (const WireTensor& input : a.inputs) {
    const WireTensor* other = FindTensor(b.inputs, input.name);
    if (!other) return false;
    const TensorConfig* tensor = config.FindInput(input.name);
    if (tensor && tensor->ragged) continue;
    if (other->dims.size() != input.dims.size() || input.dims.empty()) return false;
    if (!std::equal(input.dims.begin() + 1, input.dims.end(), other->dims.begin() + 1)) return false;
  }
  return true;
}

int64_t BatchBuilder::PaddedSize(int64_t total) const {
  if (!config_.batching || config_.max_batch_size <= 0) return total;
  // A batch with ragged tensors is not padded, because padding repeats an item of fixed size.
  for (const TensorConfig& input : config_.inputs)
    if (input.ragged) return total;
  int64_t best = 0;
  for (const int allowed : config_.batching->allowed_batch_sizes)
    if (allowed >= total && allowed <= config_.max_batch_size && (best == 0 || allowed < best))
      best = allowed;
  return best == 0 ? total : best;
}

BatchLayout BatchBuilder::Layout(const std::vector<QueuedCallPtr>& calls) const {
  BatchLayout layout;
  for (const QueuedCallPtr& call : calls) {
    layout.requests.push_back(call ? &call->call->request : nullptr);
    layout.items.push_back(call ? call->items : 1);
    layout.total += layout.items.back();
  }
  layout.padded = PaddedSize(layout.total);
  return layout;
}

namespace {

// Returns the number of bytes of a slot without a request. The bytes are zero, which for BYTES means empty
// strings.
size_t EmptySlotBytes(const WireTensor& like) {
  const auto elements = ElementCount(like.dims);
  const size_t width = like.dtype == DType::kString ? sizeof(uint32_t) : ElementBytes(like.dtype);
  return elements && like.dims[0] > 0 ? static_cast<size_t>(*elements / like.dims[0]) * width : 0;
}

// The parts that are concatenated. An undefined buffer stands for zeros.
struct InputParts {
  std::vector<Buffer> buffers;
  std::vector<size_t> sizes;
  size_t bytes = 0;

  Status Add(Buffer buffer, size_t size) {
    if (__builtin_add_overflow(bytes, size, &bytes)) return ResourceExhausted("the batch has too many bytes");
    buffers.push_back(std::move(buffer));
    sizes.push_back(size);
    return {};
  }
  Buffer Copy() const {
    Buffer out = AllocateRaw(bytes);
    std::byte* target = out.data();
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (sizes[i] == 0) continue;
      if (buffers[i].defined())
        std::memcpy(target, buffers[i].data(), sizes[i]);
      else
        std::memset(target, 0, sizes[i]);
      target += sizes[i];
    }
    return out;
  }
};

// Appends the last item of the last request `count` times.
Status AddPadding(const WireTensor& last, int64_t count, InputParts& parts) {
  TERN_ASSIGN(const std::vector<size_t> offsets, ItemOffsets(last));
  if (offsets.size() < 2) return {};
  const size_t begin = offsets[offsets.size() - 2], size = offsets.back() - begin;
  for (int64_t i = 0; i < count; ++i) TERN_TRY(parts.Add(last.bytes.Slice(begin, size), size));
  return {};
}

Dims BatchDims(const ModelConfig& config, const TensorConfig& input, const WireTensor& like, int64_t batch) {
  Dims dims = like.dims;
  if (config.max_batch_size > 0) dims.erase(dims.begin());
  if (input.reshape) dims = Reshaped(dims, input.dims, *input.reshape);
  if (config.max_batch_size > 0) dims.insert(dims.begin(), batch);
  return dims;
}

}  // namespace

Result<WireTensor> BatchBuilder::Join(const BatchLayout& layout, const TensorConfig& input) const {
  const WireTensor* like = nullptr;
  const WireTensor* last = nullptr;
  int64_t elements = 0;
  for (const Request* request : layout.requests) {
    if (!request) continue;
    last = FindTensor(request->inputs, input.name);
    if (!last) return WireTensor{};  // the input is optional and the requests do not have it
    if (!like) like = last;
    elements += ElementCount(last->dims).value_or(0);
  }
  WireTensor joined{input.name, like->dtype, BatchDims(config_, input, *like, layout.padded), {}};
  if (input.ragged) joined.dims = {elements};
  if (layout.requests.size() == 1 && layout.padded == layout.total) {
    joined.bytes = like->bytes;
    return joined;
  }
  InputParts parts;
  for (const Request* request : layout.requests) {
    const WireTensor* tensor = request ? FindTensor(request->inputs, input.name) : nullptr;
    TERN_TRY(tensor ? parts.Add(tensor->bytes, tensor->bytes.size()) : parts.Add({}, EmptySlotBytes(*like)));
  }
  if (layout.padded > layout.total) TERN_TRY(AddPadding(*last, layout.padded - layout.total, parts));
  joined.bytes = parts.Copy();
  return joined;
}

Status BatchBuilder::Build(const BatchLayout& layout, Batch& batch) const {
  for (const TensorConfig& input : config_.inputs) {
    TERN_ASSIGN(WireTensor joined, Join(layout, input));
    if (joined.dtype != DType::kInvalid) batch.inputs.push_back(std::move(joined));
  }
  TERN_TRY(AddBatchInputs(config_, layout, batch.inputs));
  bool all = false;
  for (const Request* request : layout.requests) {
    if (!request) continue;
    if (request->outputs.empty()) all = true;
    for (const RequestedOutput& output : request->outputs)
      if (std::find(batch.outputs.begin(), batch.outputs.end(), output.name) == batch.outputs.end())
        batch.outputs.push_back(output.name);
  }
  if (all) batch.outputs.clear();
  return {};
}

Result<std::vector<WireTensor>> BatchBuilder::Scatter(const BatchLayout& layout, const WireTensor& output,
                                                      const std::string& source) const {
  const TensorConfig* tensor = config_.FindOutput(output.name);
  const size_t batch = config_.max_batch_size > 0 ? 1 : 0, width = ElementBytes(output.dtype);
  std::vector<WireTensor> parts;
  size_t offset = 0;
  for (size_t i = 0; i < layout.requests.size(); ++i) {
    const WireTensor* input = layout.requests[i] ? FindTensor(layout.requests[i]->inputs, source) : nullptr;
    Dims dims = tensor ? tensor->dims : Dims{-1};
    for (size_t k = 0; k < dims.size(); ++k)
      if (dims[k] < 0) dims[k] = input && k + batch < input->dims.size() ? input->dims[k + batch] : 0;
    if (batch) dims.insert(dims.begin(), layout.items[i]);
    const size_t bytes = static_cast<size_t>(FixedBytes(output.dtype, dims).value_or(SIZE_MAX));
    if (width == 0 || bytes > output.bytes.size() - offset)
      return Status(Code::kInternal, StrCat("output '", output.name, "' of model '", config_.name,
                                            "' has too few bytes to be scattered: ", output.bytes.size()));
    parts.push_back({output.name, output.dtype, dims, output.bytes.Slice(offset, bytes)});
    offset += bytes;
  }
  return parts;
}

Result<std::vector<WireTensor>> BatchBuilder::SplitTensor(const BatchLayout& layout,
                                                          const WireTensor& output) const {
  for (const BatchOutput& scatter : config_.batch_outputs)
    if (!scatter.sources.empty() &&
        std::find(scatter.targets.begin(), scatter.targets.end(), output.name) != scatter.targets.end())
      return Scatter(layout, output, scatter.sources[0]);
  if (layout.requests.size() == 1 && layout.padded == layout.total) return std::vector<WireTensor>{output};
  if (output.dims.empty() || output.dims[0] != layout.padded)
    return Status(Code::kInternal,
                  StrCat("output '", output.name, "' of model '", config_.name, "' has shape ",
                         DimsText(output.dims), " for a batch of ", layout.padded));
  TERN_ASSIGN(const std::vector<size_t> offsets, ItemOffsets(output));
  std::vector<WireTensor> parts;
  size_t item = 0;
  for (const int64_t items : layout.items) {
    const size_t end = item + static_cast<size_t>(items);
    Dims dims = output.dims;
    dims[0] = items;
    parts.push_back({output.name, output.dtype, std::move(dims),
                     output.bytes.Slice(offsets[item], offsets[end] - offsets[item])});
    item = end;
  }
  return parts;
}

Status BatchBuilder::SplitOne(const BatchLayout& layout, const WireTensor& output,
                              std::vector<std::vector<WireTensor>>& parts) const {
  TERN_ASSIGN(std::vector<WireTensor> tensors, SplitTensor(layout, output));
  const TensorConfig* tensor = config_.FindOutput(output.name);
  for (size_t i = 0; i < tensors.size(); ++i) {
    Dims& dims = tensors[i].dims;
    if (tensor && tensor->reshape) {
      const size_t batch = config_.max_batch_size > 0 && !dims.empty() ? 1 : 0;
      Dims inner(dims.begin() + static_cast<ptrdiff_t>(batch), dims.end());
      if (inner.size() == tensor->reshape->size()) {
        inner = Reshaped(inner, *tensor->reshape, tensor->dims);
        if (batch) inner.insert(inner.begin(), dims[0]);
        dims = std::move(inner);
      }
    }
    parts[i].push_back(std::move(tensors[i]));
  }
  return {};
}

Result<std::vector<std::vector<WireTensor>>> BatchBuilder::Split(const BatchLayout& layout,
                                                                 std::vector<WireTensor> outputs) const {
  std::vector<std::vector<WireTensor>> parts(layout.requests.size());
  for (const WireTensor& output : outputs) TERN_TRY(SplitOne(layout, output, parts));
  return parts;
}

}  // namespace tern::server
