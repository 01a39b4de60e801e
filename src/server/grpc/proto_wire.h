// Reads and writes the wire format of protobuf, for messages that have no generated class here.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tern::server {

enum class ProtoKind : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Reads the fields of a message in order. The reader refers to the bytes and never reads beyond them.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Moves to the next field. Returns false at the end and at malformed bytes. ok() is false for malformed
  // bytes.
  bool Next();
  bool ok() const { return ok_; }
  bool Is(uint32_t field, ProtoKind kind) const { return field_ == field && kind_ == kind; }
  uint32_t field() const { return field_; }
  ProtoKind kind() const { return kind_; }
  uint64_t value() const { return value_; }  // for every kind but kBytes
  std::string_view bytes() const { return bytes_; }

 private:
  bool Fail();
  bool ReadFixed(size_t width);
  bool ReadBytes();

  const char* at_;
  const char* end_;
  bool ok_ = true;
  ProtoKind kind_ = ProtoKind::kVarint;
  uint32_t field_ = 0;
  uint64_t value_ = 0;
  std::string_view bytes_;
};

// Reads one varint and moves `at` behind it. If there is no complete varint before `end`, returns false and
// does not change `at`.
bool ReadVarint(const char*& at, const char* end, uint64_t& value);

size_t VarintSize(uint64_t value);
char* WriteVarint(char* at, uint64_t value);  // writes at most 10 bytes; returns the end
void AppendVarint(std::string& out, uint64_t value);
void AppendVarintField(std::string& out, uint32_t field, uint64_t value);
void AppendBytesField(std::string& out, uint32_t field, std::string_view bytes);
// Appends the tag and the length of a field. The caller appends the bytes.
void AppendBytesHeader(std::string& out, uint32_t field, uint64_t bytes);

// proto3 requires strings to be UTF-8.
bool IsUtf8(std::string_view text);

}  // namespace tern::server
