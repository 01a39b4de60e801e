// Reads the fields of a protobuf message without copying them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tern::caffe {

enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  uint64_t number = 0;
  Wire wire = Wire::kVarint;
  uint64_t value = 0;      // of a varint
  std::string_view bytes;  // the contents of a length-delimited field, or the bytes of a fixed one
  std::string_view whole;  // the field with its tag
};

// Removes the first field from `message`. Returns false if the message is broken or truncated.
bool TakeField(std::string_view& message, WireField& field);
// Removes a varint from the front of `bytes`. Returns false if it is broken or truncated.
bool TakeVarint(std::string_view& bytes, uint64_t& value);
// Appends a length-delimited field.
void AppendField(std::string& out, uint64_t number, std::string_view contents);

}  // namespace tern::caffe
