// Writes JSON incrementally into a string. The writer adds commas and quotes. The caller must end every
// object and array that it begins.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/datum.h"

namespace tern::data {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view name);
  JsonWriter& Text(std::string_view value);  // bytes that are not UTF-8 become U+FFFD
  JsonWriter& Int(int64_t value);
  JsonWriter& Unsigned(uint64_t value);
  // Write the shortest text that parses to the same value. NaN and infinities are written as the strings
  // "nan", "inf" and "-inf".
  JsonWriter& Number(double value);
  JsonWriter& Number(float value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  JsonWriter& Dims(const tern::Dims& dims);
  // Writes the elements as nested lists: dims [2,2] print as [[1,2],[3,4]]. A complex number is a list of two
  // numbers. An empty tensor is [], whatever its rank.
  JsonWriter& Elements(const Tensor& tensor);
  // Writes a tensor as {"type": "f32", "shape": [2], "data": [1,2]}, a sequence as a list, a map as an
  // object, and an absent value as null.
  JsonWriter& Value(const Datum& datum);

  const std::string& text() const { return out_; }
  std::string Take() { return std::move(out_); }

 private:
  JsonWriter& Open(char c);
  JsonWriter& Close(char c);
  void Separate();
  void Rows(const Tensor& tensor, size_t axis, int64_t& index);
  void Element(const Tensor& tensor, int64_t i);
  std::string out_;
  bool comma_ = false;
};

}  // namespace tern::data
