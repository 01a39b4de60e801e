#include "data/tokenizer/json_node.h"

#include "data/tokenizer/code_points.h"

namespace tern::data {

std::optional<JsonNode> JsonNode::Find(std::string_view name) const {
  simdjson::dom::element found;
  if (element_[name].get(found) || found.is_null()) return std::nullopt;
  return JsonNode(found, path_.empty() ? std::string(name) : StrCat(path_, ".", name));
}

Result<JsonNode> JsonNode::Field(std::string_view name) const {
  if (!element_.is_object()) return Invalid("must be an object");
  if (auto found = Find(name)) return *std::move(found);
  return Invalid(StrCat("the field '", name, "' is missing"));
}

Result<std::vector<JsonNode>> JsonNode::Items() const {
  simdjson::dom::array array;
  if (element_.get(array)) return Invalid("must be an array");
  std::vector<JsonNode> out;
  for (const simdjson::dom::element item : array) out.emplace_back(item, StrCat(path_, "[", out.size(), "]"));
  return out;
}

Result<std::string> JsonNode::String() const {
  std::string_view text;
  if (element_.get(text)) return Invalid("must be a string");
  return std::string(text);
}

Result<bool> JsonNode::Bool() const {
  bool value = false;
  if (element_.get(value)) return Invalid("must be true or false");
  return value;
}

Result<uint64_t> JsonNode::Unsigned(uint64_t limit) const {
  uint64_t value = 0;
  if (element_.get(value)) return Invalid("must be a whole number from 0");
  if (value > limit) return Invalid(StrCat("is ", value, ", but at most ", limit, " is allowed"));
  return value;
}

Result<double> JsonNode::Number() const {
  double value = 0;
  if (element_.get(value)) return Invalid("must be a number");
  return value;
}

Result<char32_t> JsonNode::Character() const {
  TERN_ASSIGN(const std::string text, String());
  size_t i = 0;
  const char32_t c = text.empty() ? 0 : NextCodePoint(text, i);
  if (text.empty() || i != text.size()) return Invalid("must be a string of one character");
  return c;
}

Result<std::string> JsonNode::StringField(std::string_view name) const {
  TERN_ASSIGN(const JsonNode field, Field(name));
  return field.String();
}

Result<std::string> JsonNode::StringField(std::string_view name, std::string_view fallback) const {
  const auto field = Find(name);
  return field ? field->String() : std::string(fallback);
}

Result<bool> JsonNode::BoolField(std::string_view name) const {
  TERN_ASSIGN(const JsonNode field, Field(name));
  return field.Bool();
}

Result<bool> JsonNode::BoolField(std::string_view name, bool fallback) const {
  const auto field = Find(name);
  return field ? field->Bool() : fallback;
}

Result<uint64_t> JsonNode::UnsignedField(std::string_view name, uint64_t limit) const {
  TERN_ASSIGN(const JsonNode field, Field(name));
  return field.Unsigned(limit);
}

}  // namespace tern::data
