// Types of inputs as text, for LoadOptions::input_types.
#pragma once
#include <map>
#include <string>

#include "base/status.h"
#include "core/type.h"

namespace tern::load {

// Parses the type of a tensor with a rank, such as f32[N,3,224,224].
Result<Type> ParseInputType(const std::string& text);

// Parses one type per input. Errors name the input.
Result<std::map<std::string, Type>> ParseInputTypes(const std::map<std::string, std::string>& texts);

}  // namespace tern::load
