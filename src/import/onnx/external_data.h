// Reads tensors whose bytes are in a separate file beside the model (external data).
#pragma once
#include "import/common/external_files.h"
#include "import/onnx/proto_tensor.h"

namespace tern::onnx {

// Returns the tensor as a view of its mapped file, or as a copy if its bytes are not aligned for the data
// type.
Result<Tensor> ReadExternal(const pb::TensorProto& proto, DType dtype, Dims dims, const TensorSource& source);

}  // namespace tern::onnx
