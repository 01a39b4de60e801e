// Parses the bodies of TensorFlow Serving's REST requests.
#include <cstdlib>
#include <string_view>

#include "entry.h"
#include "server/dialects/tfs/rest_reply.h"
#include "server/dialects/tfs/shapes.h"

using namespace tern;
using namespace tern::server;

namespace {

ModelConfig MakeConfig(int inputs) {
  constexpr DType kTypes[] = {DType::kF32,  DType::kString, DType::kI8,
                              DType::kBool, DType::kBF16,   DType::kU64};
  ModelConfig config;
  config.name = "m";
  config.max_batch_size = 4;
  for (int i = 0; i < inputs; ++i) {
    TensorConfig& input = config.inputs.emplace_back();
    input.name = std::string(1, static_cast<char>('a' + i));
    input.dtype = kTypes[i];
    input.dims = {-1};
    input.optional = i > 2;
  }
  return config;
}

// Checks what the parser accepts: bytes match the dims, and can be written again.
void Check(const Status& status, const Request& request) {
  if (status.code() == Code::kInternal) std::abort();
  if (!status.ok()) return;
  std::string out;
  if (!tfs::AppendPrediction(out, request.inputs, tfs::Layout::kColumn).ok() && !request.inputs.empty())
    std::abort();
}

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  Limits limits;
  limits.tensors = 16;
  for (const int inputs : {1, 6}) {
    const ModelConfig config = MakeConfig(inputs);
    tfs::BodyParts parts;
    if (!tfs::FindParts(body, limits, parts).ok()) return 0;
    Request predict, examined;
    tfs::Layout layout;
    tfs::ShapeFit fit;
    const Status read = tfs::ReadPredict(body, parts, config, limits, predict, layout);
    if (read.ok()) tfs::FitInputs(config, predict, fit);
    Check(read, predict);
    tfs::Examples examples;
    Status status = tfs::ReadExamples(body, parts, limits, examples);
    if (status.ok()) status = tfs::MakeInputs(config, examples, 1 << 20, examined);
    Check(status, examined);
  }
  return 0;
}
