// Variable-length integers, as LevelDB tables, Snappy blocks and protobuf messages store them.
#pragma once
#include <cstdint>
#include <string_view>

namespace tern::tensorflow {

// Removes a varint from the front of `bytes`. Returns false if it is truncated or longer than 64 bits.
inline bool TakeVarint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace tern::tensorflow
