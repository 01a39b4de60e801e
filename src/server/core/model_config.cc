#include "server/core/model_config.h"

#include <algorithm>
#include <array>

namespace tern::server {
namespace {

struct Row {
  DType dtype;
  const char* name;
};
constexpr std::array<Row, 14> kNames = {{{DType::kBool, "BOOL"},
                                         {DType::kU8, "UINT8"},
                                         {DType::kU16, "UINT16"},
                                         {DType::kU32, "UINT32"},
                                         {DType::kU64, "UINT64"},
                                         {DType::kI8, "INT8"},
                                         {DType::kI16, "INT16"},
                                         {DType::kI32, "INT32"},
                                         {DType::kI64, "INT64"},
                                         {DType::kF16, "FP16"},
                                         {DType::kF32, "FP32"},
                                         {DType::kF64, "FP64"},
                                         {DType::kString, "BYTES"},
                                         {DType::kBF16, "BF16"}}};

const TensorConfig* FindTensor(const std::vector<TensorConfig>& tensors, std::string_view name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

}  // namespace

const TensorConfig* ModelConfig::FindInput(std::string_view input) const { return FindTensor(inputs, input); }
const TensorConfig* ModelConfig::FindOutput(std::string_view output) const {
  return FindTensor(outputs, output);
}

const char* WireName(DType dtype) {
  for (const Row& row : kNames)
    if (row.dtype == dtype) return row.name;
  return "";
}

DType WireType(std::string_view name) {
  for (const Row& row : kNames)
    if (row.name == name) return row.dtype;
  return DType::kInvalid;
}

}  // namespace tern::server
