// Converts BYTES tensors, in which each element is a little-endian uint32 length followed by the bytes.
#pragma once
#include "core/tensor.h"

namespace tern::server {

// Fails if the bytes do not contain exactly as many elements as the product of dims. `name` is the input's
// name, for messages.
Result<Tensor> DecodeStrings(const char* name, const void* data, size_t bytes, Dims dims);
// `tensor` must be contiguous. A string of 4 GiB or more is truncated.
size_t EncodedBytes(const Tensor& tensor);
void EncodeStrings(const Tensor& tensor, std::byte* out);

}  // namespace tern::server
