// Tensors whose bytes lie in a file beside the model.
#pragma once
#include "import/onnx/proto_tensor.h"

namespace tern::onnx {

// Maps the named file (once per process while in use) and checks that it lies inside the model's folder.
Result<Tensor> ReadExternal(const pb::TensorProto& proto, DType dtype, Dims dims, const TensorSource& source);

}  // namespace tern::onnx
