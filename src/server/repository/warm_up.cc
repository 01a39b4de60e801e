#include "server/repository/warm_up.h"

#include <cstring>

#include "data/file.h"
#include "data/random.h"
#include "model_config.pb.h"
#include "server/repository/config_types.h"
#include "server/repository/trial.h"

namespace tern::server {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 32;

// Encodes strings in wire form, with a length before the bytes of each.
Buffer EncodeTexts(const std::vector<std::string>& texts) {
  size_t size = 0;
  for (const std::string& text : texts) size += 4 + text.size();
  Buffer out = Buffer::Allocate(size);
  std::byte* at = out.data();
  for (const std::string& text : texts) {
    const auto length = static_cast<uint32_t>(text.size());
    std::memcpy(at, &length, 4);
    std::memcpy(at + 4, text.data(), text.size());
    at += 4 + text.size();
  }
  return out;
}

Result<Buffer> FileData(const std::string& folder, const std::string& file, DType dtype, size_t expected) {
  TERN_ASSIGN(const std::string path, FileInside(folder, "warmup/" + file));
  TERN_ASSIGN(Buffer bytes, Buffer::MapFile(path));
  if (dtype == DType::kString || bytes.size() == expected) return bytes;
  return InvalidArgument("file '", file, "' has ", bytes.size(), " bytes, expected ", expected);
}

Result<Buffer> DataOf(const inference::ModelWarmup::Input& input, const WireTensor& tensor,
                      const std::string& folder) {
  const int64_t count = CountOf(tensor.dims);
  const size_t bytes = tensor.dtype == DType::kString ? 0 : BytesOf(tensor.dtype, static_cast<size_t>(count));
  if (!input.input_data_file().empty()) return FileData(folder, input.input_data_file(), tensor.dtype, bytes);
  if (input.random_data()) {
    TERN_ASSIGN(const Tensor random, data::RandomTensor(tensor.dtype, tensor.dims, 1, tensor.name));
    return tensor.dtype == DType::kString ? EncodeTexts(ToStrings(random)) : random.buffer();
  }
  if (tensor.dtype == DType::kString)
    return EncodeTexts(std::vector<std::string>(static_cast<size_t>(count)));
  return Buffer::Allocate(bytes);
}

Result<WireTensor> TensorOf(const std::string& name, const inference::ModelWarmup::Input& input, int batch,
                            const std::string& folder) {
  WireTensor out;
  out.name = name;
  out.dtype = TypeFromConfig(input.data_type());
  if (batch > 0) out.dims.push_back(batch);
  for (const int64_t dim : input.dims()) {
    if (dim < 0) return InvalidArgument("input '", name, "' has the dim ", dim, "; sizes must be fixed");
    out.dims.push_back(dim);
  }
  const auto count = CheckedCount(out.dims, out.dtype);
  if (out.dtype == DType::kInvalid) return InvalidArgument("input '", name, "' has no data_type");
  if (!count || *count > kMaxBytes / 8) return InvalidArgument("input '", name, "' has too many elements");
  TERN_ASSIGN(out.bytes, DataOf(input, out, folder));
  return out;
}

Status RunSample(ModelVersion& version, const inference::ModelWarmup& sample, const std::string& folder,
                 std::chrono::milliseconds limit) {
  const int max = version.config().max_batch_size;
  const auto batch = static_cast<int64_t>(sample.batch_size());
  if (batch > std::max(1, max))
    return InvalidArgument("batch_size is ", batch, ", but max_batch_size is ", max);
  std::vector<WireTensor> inputs;
  for (const auto& [name, input] : sample.inputs()) {
    TERN_ASSIGN(WireTensor tensor,
                TensorOf(name, input, max > 0 ? static_cast<int>(std::max<int64_t>(1, batch)) : 0, folder));
    inputs.push_back(std::move(tensor));
  }
  for (uint32_t i = 0; i < std::max(1u, sample.count()); ++i) {
    Request request;
    request.inputs = inputs;
    if (version.config().sequence) request.sequence = {"1", true, true, true};
    TERN_TRY(TryRequest(version, std::move(request), limit).TakeStatus());
  }
  return {};
}

}  // namespace

Status WarmUp(ModelVersion& version, const ConfigMessage& message, const std::string& folder,
              std::chrono::milliseconds limit) {
  for (const auto& sample : message.model_warmup()) {
    const Status status = Guard([&] { return RunSample(version, sample, folder, limit); });
    if (!status.ok())
      return Status(status.code(), StrCat("warm-up '", sample.name(), "': ", status.message()));
  }
  return {};
}

}  // namespace tern::server
