// Reads tensors from JSON: nested lists of numbers, booleans or strings, or an object as JsonWriter::Value
// writes it.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "core/tensor.h"
#include "data/npz.h"

namespace tern::data {

// Reads [[1, 2], [3, 4]], or {"shape": [2, 2], "data": …} where `data` may be a flat list. The strings "nan",
// "inf" and "-inf" stand for numbers that JSON lacks. `wanted` is the type of the result. With kInvalid, the
// type is bool, i64, f32 or string, depending on the data.
Result<Tensor> ParseJsonTensor(std::string_view text, DType wanted);

// Reads {"name": tensor, …}. `type_of` returns the type of the tensor with this name.
Result<NamedTensors> ParseJsonTensors(std::string_view text,
                                      const std::function<DType(const std::string&)>& type_of);

// Returns whether the text is an object of named tensors, as opposed to a single tensor.
bool HoldsNamedTensors(std::string_view text);

}  // namespace tern::data
