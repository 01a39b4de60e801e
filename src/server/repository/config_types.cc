#include "server/repository/config_types.h"

#include <utility>

#include "model_config.pb.h"

namespace tern::server {
namespace {

constexpr std::pair<inference::DataType, DType> kTypes[] = {
    {inference::TYPE_BOOL, DType::kBool},     {inference::TYPE_UINT8, DType::kU8},
    {inference::TYPE_UINT16, DType::kU16},    {inference::TYPE_UINT32, DType::kU32},
    {inference::TYPE_UINT64, DType::kU64},    {inference::TYPE_INT8, DType::kI8},
    {inference::TYPE_INT16, DType::kI16},     {inference::TYPE_INT32, DType::kI32},
    {inference::TYPE_INT64, DType::kI64},     {inference::TYPE_FP16, DType::kF16},
    {inference::TYPE_FP32, DType::kF32},      {inference::TYPE_FP64, DType::kF64},
    {inference::TYPE_STRING, DType::kString}, {inference::TYPE_BF16, DType::kBF16},
};

}  // namespace

DType TypeFromConfig(inference::DataType type) {
  for (const auto& [config, dtype] : kTypes)
    if (config == type) return dtype;
  return DType::kInvalid;
}

inference::DataType TypeForConfig(DType dtype) {
  for (const auto& [config, known] : kTypes)
    if (known == dtype) return config;
  return inference::TYPE_INVALID;
}

}  // namespace tern::server
