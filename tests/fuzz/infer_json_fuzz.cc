// Parses the bodies of infer and generate requests. The first two bytes of the input are the length of the
// JSON part of the body, little endian. If they are 65535, the entire body is JSON.
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/buffer.h"
#include "entry.h"
#include "server/http/base64.h"
#include "server/http/generate_json.h"
#include "server/http/infer_request.h"
#include "server/http/json_writer.h"

using namespace tern;
using namespace tern::server;

namespace {

ModelConfig MakeConfig() {
  ModelConfig config;
  config.name = "m";
  config.max_batch_size = 4;
  TensorConfig input;
  input.name = "a";
  input.dtype = DType::kF32;
  input.dims = {-1, 2};
  config.inputs.push_back(input);
  return config;
}

void Check(const Status& status, const Request& request) {
  if (status.code() == Code::kInternal) std::abort();
  if (!status.ok()) return;
  for (const WireTensor& tensor : request.inputs) {
    if (!CheckedCount(tensor.dims, tensor.dtype)) continue;
    std::string text;
    static_cast<void>(AppendJsonElements(text, tensor));
  }
}

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const ModelConfig config = MakeConfig();
  Limits limits;
  limits.tensors = 16;
  const InferSource source{&config, &limits, nullptr};
  const uint64_t header = data[0] + data[1] * uint64_t{256};
  const Buffer body = Buffer::Allocate(size - 2);
  if (size > 2) std::memcpy(body.data(), data + 2, size - 2);
  Request infer, generate;
  InferFormat format;
  std::optional<uint64_t> length;
  if (header != 65535) length = header;
  Check(ParseInferRequest(body, length, source, infer, format), infer);
  const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
  Check(ParseGenerateRequest(text, source, generate), generate);
  std::string decoded;
  DecodeBase64(text, decoded);
  return 0;
}
