// BYTES tensors: a uint32 length, little-endian, before the bytes of each element.
#pragma once
#include "core/tensor.h"

namespace tern::server {

// Fails unless the bytes hold exactly as many elements as the dims say. name: of the input, for messages.
Result<Tensor> DecodeStrings(const char* name, const void* data, size_t bytes, Dims dims);
// tensor: contiguous. Each string must be shorter than 4 GiB; longer ones are cut.
size_t EncodedBytes(const Tensor& tensor);
void EncodeStrings(const Tensor& tensor, std::byte* out);

}  // namespace tern::server
