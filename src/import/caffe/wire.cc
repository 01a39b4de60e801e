#include "import/caffe/wire.h"

namespace tern::caffe {

bool TakeVarint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool TakeField(std::string_view& message, WireField& field) {
  const std::string_view start = message;
  uint64_t tag = 0, size = 0;
  if (!TakeVarint(message, tag) || tag >> 3 == 0) return false;
  field.number = tag >> 3;
  switch (tag & 7) {
    case 0:
      if (!TakeVarint(message, field.value)) return false;
      break;
    case 1:
      size = 8;
      break;
    case 2:
      if (!TakeVarint(message, size)) return false;
      break;
    case 5:
      size = 4;
      break;
    default:
      return false;
  }
  if (size > message.size()) return false;
  field.wire = static_cast<Wire>(tag & 7);
  field.bytes = message.substr(0, size);
  message.remove_prefix(size);
  field.whole = start.substr(0, start.size() - message.size());
  return true;
}

static void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void AppendField(std::string& out, uint64_t number, std::string_view contents) {
  AppendVarint(out, number << 3 | static_cast<uint64_t>(Wire::kBytes));
  AppendVarint(out, contents.size());
  out += contents;
}

}  // namespace tern::caffe
