// Reads a JSON document with errors that name the place.
#pragma once
#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::data {

// An element of the document and its path, such as `pre_tokenizer.pretokenizers[1]`. The document must
// outlive it.
class JsonNode {
 public:
  JsonNode(simdjson::dom::element element, std::string path) : element_(element), path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  simdjson::dom::element element() const { return element_; }
  Status Invalid(std::string_view what) const {
    return InvalidModel(path_.empty() ? "the document" : path_, ": ", what);
  }

  bool is_null() const { return element_.is_null(); }
  bool is_string() const { return element_.is_string(); }
  bool is_object() const { return element_.is_object(); }

  // The field, unless it is missing or null.
  std::optional<JsonNode> Find(std::string_view name) const;
  Result<JsonNode> Field(std::string_view name) const;
  Result<std::vector<JsonNode>> Items() const;  // of an array

  Result<std::string> String() const;
  Result<bool> Bool() const;
  Result<uint64_t> Unsigned(uint64_t limit) const;  // fails above `limit`
  Result<double> Number() const;
  Result<char32_t> Character() const;  // a string of one code point

  Result<std::string> StringField(std::string_view name) const;
  Result<std::string> StringField(std::string_view name, std::string_view fallback) const;
  Result<bool> BoolField(std::string_view name) const;
  Result<bool> BoolField(std::string_view name, bool fallback) const;
  Result<uint64_t> UnsignedField(std::string_view name, uint64_t limit) const;

 private:
  simdjson::dom::element element_;
  std::string path_;
};

// Files may nest sequences of components up to this depth.
constexpr int kMaxNesting = 32;

}  // namespace tern::data
