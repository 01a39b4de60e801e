// Reads and writes numpy's .npy files. Reads versions 1 to 3, both byte orders and both axis orders. Types
// that numpy lacks are stored as their bits: bf16 as uint16; the fp8s as uint8; f4, u4, u2 as uint8 and i4,
// i2 as int8, one element per byte. AdoptStorage converts such an array back. Strings are stored as numpy's
// fixed-width text ('<U'), or as bytes ('|S') when they are not UTF-8; numpy drops trailing zeros of either.
#pragma once
#include <string>
#include <string_view>

#include "core/tensor.h"

namespace tern::data {

Result<Tensor> ParseNpy(std::string_view bytes);
Result<Tensor> ReadNpy(const std::string& path);
Result<std::string> FormatNpy(const Tensor& tensor);
Status WriteNpy(const std::string& path, const Tensor& tensor);

// Converts `stored` to `wanted`. Returns it unchanged if it has that type, and reinterpreted if it has the
// type's storage form (above). Otherwise fails; the message names both types.
Result<Tensor> AdoptStorage(Tensor stored, DType wanted);
// Returns the type in which elements are stored in a file. It is the type itself if numpy has it.
DType StorageType(DType dtype);
Tensor ToStorage(const Tensor& tensor);

}  // namespace tern::data
