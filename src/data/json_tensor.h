// Reads tensors from JSON: nested lists, or objects with `shape` and `data`.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "core/tensor.h"
#include "data/npz.h"

namespace tern::data {

// Reads nested lists such as [[1, 2], [3, 4]], or an object {"shape": [2, 2], "data": [1, 2, 3, 4]}, in which
// `data` may be flat or nested; other members, such as `type`, are ignored. Elements are numbers, booleans or
// strings. In a float tensor, the strings "nan", "inf" and "-inf" are the numbers that JSON cannot represent.
// `wanted` is the type of the result. If it is kInvalid, the type is bool, i64, f32 or string, depending on
// the elements. Complex types are not supported.
Result<Tensor> ParseJsonTensor(std::string_view text, DType wanted);

// Reads {"name": tensor, …}. `type_of` returns the type of the tensor with this name.
Result<NamedTensors> ParseJsonTensors(std::string_view text,
                                      const std::function<DType(const std::string&)>& type_of);

// Returns whether the text is an object of named tensors, as opposed to a single tensor.
bool HoldsNamedTensors(std::string_view text);

}  // namespace tern::data
