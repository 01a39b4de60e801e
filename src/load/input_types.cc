#include "load/input_types.h"

namespace tern::load {

Result<Type> ParseInputType(const std::string& text) {
  auto type = Type::Parse(text);
  if (!type.ok() || !type->tensor() || !type->shape.ranked || type->dtype == DType::kInvalid)
    return InvalidArgument("'", text, "' is not the type of a tensor, such as f32[1,3,224,224]");
  return type;
}

Result<std::map<std::string, Type>> ParseInputTypes(const std::map<std::string, std::string>& texts) {
  std::map<std::string, Type> types;
  for (const auto& [name, text] : texts) {
    auto type = ParseInputType(text);
    if (!type.ok()) return InvalidArgument("the type of input '", name, "': ", type.status().message());
    types[name] = std::move(*type);
  }
  return types;
}

}  // namespace tern::load
