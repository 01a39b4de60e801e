// numpy's .npy files: versions 1 to 3, both byte orders, both axis orders.
//
// Types numpy lacks are stored by their bits: bf16 as uint16; the fp8s as uint8; f4, u4, u2 as uint8 and i4,
// i2 as int8, one element a byte. AdoptStorage turns what was read back into such a type. Strings are stored
// as numpy's fixed-width text ('<U'), or as bytes ('|S') when they are not UTF-8; numpy drops trailing zeros
// of either.
#pragma once
#include <string>
#include <string_view>

#include "core/tensor.h"

namespace tern::data {

Result<Tensor> ParseNpy(std::string_view bytes);
Result<Tensor> ReadNpy(const std::string& path);
Result<std::string> FormatNpy(const Tensor& tensor);
Status WriteNpy(const std::string& path, const Tensor& tensor);

// `stored` as `wanted`: itself when it has that type, its bits when it is the type's form in a file (above),
// else an error that names both.
Result<Tensor> AdoptStorage(Tensor stored, DType wanted);
// The form in which a type goes to a file: itself where numpy has it.
DType StorageType(DType dtype);
Tensor ToStorage(const Tensor& tensor);

}  // namespace tern::data
