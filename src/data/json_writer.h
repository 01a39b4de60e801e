// Writes JSON incrementally into a string. Adds commas and quotes; the caller balances Begin and End.
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
  // Writes the shortest text that parses to the same value. Writes "nan", "inf" and "-inf" as strings.
  JsonWriter& Number(double value);
  JsonWriter& Number(float value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  JsonWriter& Dims(const tern::Dims& dims);
  // Writes nested lists in row-major order, and complex numbers as pairs.
  JsonWriter& Elements(const Tensor& tensor);
  // Writes {"type", "shape", "data"} for a tensor, a list for a sequence, an object for a map, and null for
  // an absent value.
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
