#include "server/grpc/proto_wire.h"

#include <cstring>

namespace tern::server {
namespace {

// Returns the number of bytes of the UTF-8 sequence at the start of `text`, or 0 if it is not valid.
size_t SequenceSize(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t size = lead < 0x80   ? 1
                      : lead < 0xC2 ? 0
                      : lead < 0xE0 ? 2
                      : lead < 0xF0 ? 3
                      : lead < 0xF5 ? 4
                                    : 0;
  if (size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i)
    if ((static_cast<uint8_t>(text[i]) & 0xC0) != 0x80) return 0;
  if (size < 3) return size;
  // Refuses overlong forms, surrogates, and code points above 10FFFF.
  const auto second = static_cast<uint8_t>(text[1]);
  const bool bad = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                   (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return bad ? 0 : size;
}

}  // namespace

bool ReadVarint(const char*& at, const char* end, uint64_t& value) {
  uint64_t result = 0;
  const char* p = at;
  for (int shift = 0; shift < 64 && p < end; shift += 7) {
    const auto byte = static_cast<uint8_t>(*p++);
    result |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) {
      value = result;
      at = p;
      return true;
    }
  }
  return false;
}

bool ProtoReader::Fail() {
  ok_ = false;
  at_ = end_;
  return false;
}

bool ProtoReader::ReadFixed(size_t width) {
  if (static_cast<size_t>(end_ - at_) < width) return Fail();
  value_ = 0;
  std::memcpy(&value_, at_, width);
  at_ += width;
  return true;
}

bool ProtoReader::ReadBytes() {
  uint64_t size = 0;
  if (!ReadVarint(at_, end_, size) || size > static_cast<uint64_t>(end_ - at_)) return Fail();
  bytes_ = {at_, static_cast<size_t>(size)};
  at_ += size;
  return true;
}

bool ProtoReader::Next() {
  if (at_ == end_) return false;
  uint64_t tag = 0;
  if (!ReadVarint(at_, end_, tag) || tag > UINT32_MAX || tag >> 3 == 0) return Fail();
  field_ = static_cast<uint32_t>(tag >> 3);
  kind_ = static_cast<ProtoKind>(tag & 7);
  switch (kind_) {
    case ProtoKind::kVarint:
      return ReadVarint(at_, end_, value_) || Fail();
    case ProtoKind::kFixed64:
      return ReadFixed(8);
    case ProtoKind::kBytes:
      return ReadBytes();
    case ProtoKind::kFixed32:
      return ReadFixed(4);
  }
  return Fail();
}

size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

char* WriteVarint(char* at, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

void AppendVarint(std::string& out, uint64_t value) {
  char bytes[10];
  out.append(bytes, static_cast<size_t>(WriteVarint(bytes, value) - bytes));
}

void AppendVarintField(std::string& out, uint32_t field, uint64_t value) {
  AppendVarint(out, uint64_t{field} << 3);
  AppendVarint(out, value);
}

void AppendBytesHeader(std::string& out, uint32_t field, uint64_t bytes) {
  AppendVarint(out, (uint64_t{field} << 3) | static_cast<uint64_t>(ProtoKind::kBytes));
  AppendVarint(out, bytes);
}

void AppendBytesField(std::string& out, uint32_t field, std::string_view bytes) {
  AppendBytesHeader(out, field, bytes.size());
  out.append(bytes);
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = SequenceSize(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace tern::server
