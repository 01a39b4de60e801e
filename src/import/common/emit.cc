#include "import/common/emit.h"

namespace tern::import {

std::vector<int64_t> ChannelsFirstPerm(int64_t rank) {
  std::vector<int64_t> perm = {0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}

std::vector<int64_t> ChannelsLastPerm(int64_t rank) {
  std::vector<int64_t> perm = {0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

Tensor Numbers(Builder& b, DType dtype, const Dims& dims, const std::vector<double>& values) {
  if (IsNumeric(dtype) || dtype == DType::kBool) return Tensor::Of(dtype, dims, values);
  b.Fail(Unsupported("numbers of type ", DTypeName(dtype), " are needed"));
  return Tensor::Of(DType::kF32, dims, values);
}

}  // namespace tern::import
