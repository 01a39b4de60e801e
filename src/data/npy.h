// Reads and writes numpy's .npy files. Reads versions 1 to 3, both byte orders, and row-major and
// column-major data. Types that numpy lacks are stored as their bits: bf16 as uint16, and fp8 types as uint8.
// Elements of less than 8 bits are stored in one byte each: f4, u4 and u2 as uint8, i4 and i2 as int8.
// AdoptStorage converts such an array back. Strings are stored as numpy's fixed-width text ('<U'), or as
// bytes ('|S') if they are not UTF-8. Zeros at the end of a string are lost, because numpy pads strings with
// zeros.
#pragma once
#include <string>
#include <string_view>

#include "core/tensor.h"

namespace tern::data {

Result<Tensor> ParseNpy(std::string_view bytes);
Result<Tensor> ReadNpy(const std::string& path);
Result<std::string> FormatNpy(const Tensor& tensor);
Status WriteNpy(const std::string& path, const Tensor& tensor);

// Converts `stored`, as read from a file, to the type `wanted`. If `stored` has the type `wanted`, returns it
// unchanged. If it has the type StorageType(wanted), reinterprets its elements. Fails if `stored` has another
// type, or if an element is outside the range of a `wanted` type of less than 8 bits.
Result<Tensor> AdoptStorage(Tensor stored, DType wanted);
// Returns the type in which a .npy file stores elements of type `dtype`. It is `dtype` itself if numpy has
// that type, and for example u16 for bf16.
DType StorageType(DType dtype);
Tensor ToStorage(const Tensor& tensor);

}  // namespace tern::data
