// Tensors of an archive: views of raw storages.
#pragma once
#include "core/tensor.h"

namespace tern::torch {

// Returns the tensor with these dims, strides and offset (in elements) of a storage. It shares the storage's
// memory if the elements are in row-major order and aligned; otherwise they are copied. Fails if an element
// lies outside the storage or if a copy would be far larger than the storage.
Result<Tensor> TensorOfStorage(const Buffer& storage, DType dtype, const Dims& dims, const Dims& strides,
                               int64_t offset);

}  // namespace tern::torch
