// Reads a golden request and compares its outputs with themselves.
#include <cstdlib>
#include <string_view>

#include "entry.h"
#include "server/repository/golden_file.h"

using namespace tern;
using namespace tern::server;

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  ModelConfig config;
  config.name = "m";
  TensorConfig input;
  input.name = "a";
  input.dtype = DType::kF32;
  input.dims = {-1, 2};
  config.inputs.push_back(input);
  const auto golden = ParseGolden({reinterpret_cast<const char*>(data), size}, config);
  if (!golden.ok()) {
    if (golden.status().code() == Code::kInternal) std::abort();
    return 0;
  }
  for (const WireTensor& tensor : golden->outputs)
    if (!CompareTensors(tensor, tensor, golden->tolerance).ok()) std::abort();
  return 0;
}
