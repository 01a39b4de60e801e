// Reads the fields of serialized protobuf messages without parsing them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tern::import {

struct WireField {
  uint64_t number = 0;
  uint64_t value = 0;         // the value of a varint
  bool bytes = false;         // whether the field is length-delimited (a message, a string or bytes)
  std::string_view encoded;   // the entire field, including its tag and length
  std::string_view contents;  // the contents of a field that is not a varint
};

class WireReader {
 public:
  explicit WireReader(std::string_view text) : remaining_(text) {}
  bool done() const { return remaining_.empty(); }

  // Reads the next field. Returns false if the field is truncated or is a group.
  bool Next(WireField& field) {
    const std::string_view start = remaining_;
    uint64_t tag = 0;
    if (!Varint(tag)) return false;
    field.number = tag >> 3;
    field.bytes = (tag & 7) == 2;
    if ((tag & 7) == 0 ? !Varint(field.value) : !Fixed(tag & 7, field.contents)) return false;
    field.encoded = start.substr(0, start.size() - remaining_.size());
    return true;
  }

 private:
  bool Fixed(uint64_t wire, std::string_view& contents) {
    uint64_t size = wire == 1 ? 8 : 4;
    if (wire == 2 ? !Varint(size) : wire != 1 && wire != 5) return false;
    if (size > remaining_.size()) return false;
    contents = remaining_.substr(0, size);
    remaining_.remove_prefix(size);
    return true;
  }

  bool Varint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (remaining_.empty()) return false;
      const auto byte = static_cast<uint8_t>(remaining_[0]);
      remaining_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }

  std::string_view remaining_;
};

inline void WriteVarint(uint64_t value, std::string& out) {
  for (; value >= 128; value >>= 7) out.push_back(static_cast<char>(value | 128));
  out.push_back(static_cast<char>(value));
}

}  // namespace tern::import
