// Warm-up with recorded requests and with made-up inputs.
#include <cstring>
#include <filesystem>

#include "data/file.h"
#include "server/http/infer_request.h"
#include "server/repository/trial.h"
#include "server/repository/warm_up.h"

namespace tern::server {
namespace {

constexpr uint64_t kMaxRecording = uint64_t{256} << 20;
constexpr int64_t kMaxMadeUp = int64_t{64} << 20;  // bytes of one input

Status RunLine(ModelVersion& version, const Buffer& line, std::chrono::milliseconds limit) {
  const Limits limits;
  const InferSource source{&version.config(), &limits, nullptr};
  Request request;
  InferFormat format;
  TERN_TRY(ParseInferRequest(line, std::nullopt, source, request, format));
  return TryRequest(version, std::move(request), limit).TakeStatus();
}

}  // namespace

Result<size_t> RunRecordedRequests(ModelVersion& version, const std::string& folder,
                                   std::chrono::milliseconds limit) {
  std::error_code error;
  if (!std::filesystem::exists(folder + "/" + kRecordedRequests, error)) return size_t{0};
  TERN_ASSIGN(const std::string path, FileInside(folder, kRecordedRequests));
  if (std::filesystem::file_size(path, error) > kMaxRecording || error)
    return InvalidArgument("file '", kRecordedRequests, "' must be a file of at most ", kMaxRecording,
                           " bytes");
  TERN_ASSIGN(const std::string text, data::ReadFile(path));
  size_t number = 0, requests = 0;
  for (const std::string& line : SplitText(text, '\n')) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Buffer bytes = Buffer::Allocate(line.size());
    std::memcpy(bytes.data(), line.data(), line.size());
    const Status status = Guard([&] { return RunLine(version, bytes, limit); });
    if (!status.ok())
      return Status(status.code(),
                    StrCat("warm-up: line ", number, " of ", kRecordedRequests, ": ", status.message()));
    ++requests;
  }
  return requests;
}

std::optional<Request> MadeUpRequest(const ModelConfig& config) {
  if (config.sequence || config.decoupled || !config.ensemble.empty() || config.inputs.empty()) return {};
  Request request;
  for (const TensorConfig& input : config.inputs) {
    WireTensor tensor{input.name, input.dtype, input.dims, {}};
    if (config.max_batch_size > 0) tensor.dims.insert(tensor.dims.begin(), 1);
    for (const int64_t dim : tensor.dims)
      if (dim < 0) return {};
    const auto count = CheckedCount(tensor.dims, tensor.dtype);
    if (tensor.dtype == DType::kString || !count || *count > kMaxMadeUp / 8) return {};
    tensor.bytes = Buffer::Allocate(BytesOf(tensor.dtype, static_cast<size_t>(*count)));
    request.inputs.push_back(std::move(tensor));
  }
  return request;
}

}  // namespace tern::server
