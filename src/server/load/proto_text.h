// The subset of protobuf's wire format that the load generator's messages need.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tern::server::loadgen {

inline void AppendVarint(uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

inline void AppendField(int field, std::string_view bytes, std::string& out) {
  AppendVarint(static_cast<uint64_t>(field) << 3 | 2, out);
  AppendVarint(bytes.size(), out);
  out += bytes;
}

inline void AppendNumber(int field, uint64_t value, std::string& out) {
  AppendVarint(static_cast<uint64_t>(field) << 3, out);
  AppendVarint(value, out);
}

// Reads fields one by one. Next returns false at the end and at malformed bytes. ok() is false after
// malformed bytes.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : rest_(bytes) {}
  bool Next();
  bool ok() const { return ok_; }
  int field() const { return field_; }
  uint64_t number() const { return number_; }        // of a varint
  std::string_view bytes() const { return bytes_; }  // of a length-delimited field
  bool is_bytes() const { return is_bytes_; }
  // Removes a varint from the front of `bytes`. Returns false if there is no complete varint.
  static bool TakeVarint(std::string_view& bytes, uint64_t& value);

 private:
  bool Fail() { return ok_ = false; }
  std::string_view rest_, bytes_;
  uint64_t number_ = 0;
  int field_ = 0;
  bool ok_ = true, is_bytes_ = false;
};

}  // namespace tern::server::loadgen
