// Parses types from their text form.
#include <algorithm>

#include "core/type.h"

namespace tern {
namespace {

// Returns the position of the quote that closes the quote at `open`, or the end of the text.
size_t ClosingQuote(std::string_view text, size_t open) {
  size_t i = open + 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return i;
}

// Returns the position of the bracket that closes the bracket at `open`, or npos.
size_t Closing(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '"') i = ClosingQuote(text, i);
    if (i >= text.size()) break;
    if (text[i] == '(' || text[i] == '[') ++depth;
    if ((text[i] == ')' || text[i] == ']') && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Splits at commas outside brackets and quotes.
std::vector<std::string_view> Arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') i = std::min(ClosingQuote(text, i), text.size());
    if (i < text.size() && (text[i] == '(' || text[i] == '[')) ++depth;
    if (i < text.size() && (text[i] == ')' || text[i] == ']')) --depth;
    if (i < text.size() && (text[i] != ',' || depth)) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

Result<Shape> ParseShape(std::string_view inner) {
  if (inner == "*") return Shape();
  std::vector<Dim> dims;
  if (inner.empty()) return Shape(dims);
  for (std::string_view part : Arguments(inner)) {
    TERN_ASSIGN(Dim d, Dim::Parse(part));
    dims.push_back(d);
  }
  return Shape(std::move(dims));
}

Result<DType> ElementType(std::string_view name) {
  if (name == "invalid") return DType::kInvalid;
  auto dtype = ParseDType(name);
  if (!dtype) return InvalidArgument("unknown element type '", name, "'");
  return *dtype;
}

Result<Type> ParseAt(std::string_view text, int depth) {
  const auto bad = [&] { return InvalidArgument("cannot read type '", text, "'"); };
  if (depth > kMaxTypeDepth)
    return InvalidArgument("a type is nested deeper than ", kMaxTypeDepth, " levels");
  if (text == "unknown") return Type();
  const size_t open = text.find_first_of("([");
  if (open == std::string_view::npos || Closing(text, open) != text.size() - 1) return bad();
  const std::string_view head = text.substr(0, open), inner = text.substr(open + 1, text.size() - open - 2);
  if (text[open] == '[') {
    TERN_ASSIGN(DType dtype, ElementType(head));
    TERN_ASSIGN(Shape shape, ParseShape(inner));
    return Type::TensorOf(dtype, std::move(shape));
  }
  const auto arguments = Arguments(inner);
  TERN_ASSIGN(Type element, ParseAt(arguments.back(), depth + 1));
  if (head == "seq" && arguments.size() == 1) return Type::SequenceOf(std::move(element));
  if (head == "optional" && arguments.size() == 1) return Type::OptionalOf(std::move(element));
  if (head != "map" || arguments.size() != 2) return bad();
  TERN_ASSIGN(DType key, ElementType(arguments[0]));
  return Type::MapOf(key, std::move(element));
}

}  // namespace

Result<Type> Type::Parse(std::string_view text) { return ParseAt(text, 0); }

}  // namespace tern
