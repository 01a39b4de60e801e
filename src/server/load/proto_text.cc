#include "server/load/proto_text.h"

namespace tern::server::loadgen {

bool ProtoReader::TakeVarint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool ProtoReader::Next() {
  if (rest_.empty() || !ok_) return false;
  uint64_t key = 0;
  if (!TakeVarint(rest_, key)) return Fail();
  field_ = static_cast<int>(key >> 3 & 0x1fffffff);
  is_bytes_ = (key & 7) == 2;
  bytes_ = {};
  number_ = 0;
  switch (key & 7) {
    case 0:
      return TakeVarint(rest_, number_) || Fail();
    case 2: {
      uint64_t size = 0;
      if (!TakeVarint(rest_, size) || size > rest_.size()) return Fail();
      bytes_ = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    }
    case 1:
    case 5: {
      const size_t size = (key & 7) == 1 ? 8 : 4;
      if (rest_.size() < size) return Fail();
      rest_.remove_prefix(size);
      return true;
    }
    default:
      return Fail();
  }
}

}  // namespace tern::server::loadgen
