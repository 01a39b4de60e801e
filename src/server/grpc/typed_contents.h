// Converts tensors of a gRPC request that are lists of values instead of raw bytes.
#pragma once
#include <string_view>

#include "base/dtype.h"
#include "base/status.h"
#include "core/buffer.h"

namespace tern::server {

// Converts a serialized InferTensorContents to the bytes of a WireTensor. `count` is the product of the
// tensor's shape. Fails with kInvalidArgument if the list has another type or another number of values, if a
// value is beyond the range of `dtype`, or if the result has more than `limit` bytes.
Result<Buffer> ConvertContents(std::string_view contents, DType dtype, int64_t count, uint64_t limit);

}  // namespace tern::server
