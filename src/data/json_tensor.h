// Tensors as JSON: nested lists of numbers, booleans or strings, or an object as JsonWriter::Value writes it.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "core/tensor.h"
#include "data/npz.h"

namespace tern::data {

// [[1, 2], [3, 4]], or {"shape": [2, 2], "data": …} where `data` may be flat. "nan", "inf" and "-inf" stand
// for what JSON numbers cannot say. wanted: the type to read as; kInvalid takes bool, i64, f32 or string as
// the data suggest.
Result<Tensor> ParseJsonTensor(std::string_view text, DType wanted);

// {"name": tensor, …}. type_of: the type wanted for each name.
Result<NamedTensors> ParseJsonTensors(std::string_view text,
                                      const std::function<DType(const std::string&)>& type_of);

// Whether the text is such an object of tensors, and not one tensor.
bool HoldsNamedTensors(std::string_view text);

}  // namespace tern::data
