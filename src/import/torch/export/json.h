// Reads the JSON of an exported program. All functions return errors for values of another kind.
#pragma once
#include <simdjson.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::torch {

using Json = simdjson::dom::element;

inline Status WrongJson(std::string_view what) {
  return InvalidModel("the program's JSON is broken: expected ", what);
}

// Return the member of an object. Member fails if there is none; Find returns nullopt if there is none or if
// it is null.
inline std::optional<Json> Find(Json object, std::string_view key) {
  Json found;
  if (object.at_key(key).get(found) || found.is_null()) return std::nullopt;
  return found;
}
inline Result<Json> Member(Json object, std::string_view key) {
  if (auto found = Find(object, key)) return *found;
  return InvalidModel("the program's JSON is broken: '", key, "' is missing");
}

inline Result<simdjson::dom::array> ArrayOf(Json json) {
  simdjson::dom::array array;
  if (json.get(array)) return WrongJson("a list");
  return array;
}
inline Result<simdjson::dom::object> ObjectOf(Json json) {
  simdjson::dom::object object;
  if (json.get(object)) return WrongJson("an object");
  return object;
}
inline Result<std::string> TextOf(Json json) {
  std::string_view text;
  if (json.get(text)) return WrongJson("a string");
  return std::string(text);
}
inline Result<int64_t> IntOf(Json json) {
  int64_t v = 0;
  if (json.get(v)) return WrongJson("an integer");
  return v;
}
inline Result<bool> BoolOf(Json json) {
  bool v = false;
  if (json.get(v)) return WrongJson("true or false");
  return v;
}
// Infinities and NaN are strings in JSON.
Result<double> FloatOf(Json json);

// A union is an object with one member, whose name is the kind of the value.
struct Union {
  std::string kind;
  Json value;
};
Result<Union> UnionOf(Json json);

inline Result<simdjson::dom::array> ArrayIn(Json object, std::string_view key) {
  TERN_ASSIGN(Json member, Member(object, key));
  return ArrayOf(member);
}
inline Result<std::string> TextIn(Json object, std::string_view key) {
  TERN_ASSIGN(Json member, Member(object, key));
  return TextOf(member);
}

}  // namespace tern::torch
