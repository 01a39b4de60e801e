// Reads the tables of TensorFlow's variables, and Snappy blocks.
#include <string>

#include "entry.h"
#include "import/tensorflow/crc32c.h"
#include "import/tensorflow/snappy.h"
#include "import/tensorflow/table.h"

using namespace tern::tensorflow;

namespace {

// Appends a block with its compression and checksum.
void Append(std::string& file, std::string_view block, char compression) {
  std::string stored(block);
  stored += compression;
  const uint32_t crc = MaskCrc(Crc32c(stored.data(), stored.size()));
  file += stored;
  file.append(reinterpret_cast<const char*>(&crc), 4);
}

std::string Varint(uint64_t v) {
  std::string out;
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  return out + static_cast<char>(v);
}

// A table whose checksums are right: the first byte says where `bytes` is split into a block of entries and
// the index, and whether the blocks are compressed.
std::string TableOf(std::string_view bytes) {
  const auto head = static_cast<unsigned char>(bytes[0]);
  const std::string_view rest = bytes.substr(1);
  const size_t split = rest.size() * (head >> 2) / 64;
  std::string file, footer = Varint(0) + Varint(0);
  Append(file, rest.substr(0, split), static_cast<char>(head & 1));
  footer += Varint(file.size()) + Varint(rest.size() - split);
  Append(file, rest.substr(split), static_cast<char>(head >> 1 & 1));
  footer.resize(40);
  const uint64_t magic = 0xdb4775248b80fb57;
  return file + footer + std::string(reinterpret_cast<const char*>(&magic), 8);
}

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)Unsnappy(bytes, size_t{1} << 24).ok();
  (void)ReadTable(bytes).ok();
  if (size > 0) (void)ReadTable(TableOf(bytes)).ok();
  return 0;
}
