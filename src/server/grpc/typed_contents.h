// Tensors of a gRPC request that come as lists of values instead of raw bytes.
#pragma once
#include <string_view>

#include "base/dtype.h"
#include "base/status.h"
#include "core/buffer.h"

namespace tern::server {

// Converts a serialized InferTensorContents to the bytes of a WireTensor. `count` is the number of elements
// that the tensor's shape has. Fails with kInvalidArgument for a list of another type, another number of
// values, a value beyond the range of `dtype`, and a result of more than `limit` bytes.
Result<Buffer> ConvertContents(std::string_view contents, DType dtype, int64_t count, uint64_t limit);

}  // namespace tern::server
