#include "import/tensorflow/snappy.h"

#include "import/tensorflow/varint.h"

namespace tern::tensorflow {
namespace {

Status Broken() { return InvalidModel("a Snappy block is broken"); }

// Removes a little-endian number of 1 to 4 bytes from the front of `bytes`.
bool TakeNumber(std::string_view& bytes, size_t width, size_t& value) {
  if (bytes.size() < width) return false;
  value = 0;
  for (size_t i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  bytes.remove_prefix(width);
  return true;
}

// The upper 6 bits of the tag are the length minus 1. If they are 60 or more, the length minus 1 follows as a
// number of (upper 6 bits - 59) bytes.
bool Literal(std::string_view& in, unsigned tag, size_t size, std::string& out) {
  size_t length = tag >> 2;
  if (length >= 60 && !TakeNumber(in, length - 59, length)) return false;
  ++length;
  if (length > in.size() || length > size - out.size()) return false;
  out.append(in.substr(0, length));
  in.remove_prefix(length);
  return true;
}

// Copies bytes of the output. The source may overlap the copy, which then repeats.
bool Copy(std::string_view& in, unsigned tag, size_t size, std::string& out) {
  size_t offset = 0, length = (tag >> 2) + 1;
  if ((tag & 3) == 1) {
    if (!TakeNumber(in, 1, offset)) return false;
    offset |= static_cast<size_t>(tag >> 5) << 8;
    length = (tag >> 2 & 7) + 4;
  } else if (!TakeNumber(in, (tag & 3) == 2 ? 2 : 4, offset)) {
    return false;
  }
  if (offset == 0 || offset > out.size() || length > size - out.size()) return false;
  for (size_t i = 0; i < length; ++i) out.push_back(out[out.size() - offset]);
  return true;
}

}  // namespace

Result<std::string> Unsnappy(std::string_view block, size_t limit) {
  uint64_t size = 0;
  if (!TakeVarint(block, size)) return Broken();
  if (size > limit)
    return InvalidModel("a Snappy block of ", size, " bytes is larger than the limit of ", limit);
  // One compressed byte makes at most 64 bytes, so a larger size is wrong.
  if (size / 64 > block.size()) return Broken();
  std::string out;
  out.reserve(size);
  while (!block.empty()) {
    const auto tag = static_cast<unsigned char>(block[0]);
    block.remove_prefix(1);
    if (!((tag & 3) == 0 ? Literal(block, tag, size, out) : Copy(block, tag, size, out))) return Broken();
  }
  if (out.size() != size) return Broken();
  return out;
}

}  // namespace tern::tensorflow
