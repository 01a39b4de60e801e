#include "import/tensorflow/crc32c.h"

#include <array>
#include <cstring>

namespace tern::tensorflow {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reversed bits

// tables[k][b] is the register after byte b and k zero bytes, starting from 0, without the inversions of
// Crc32c.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ kPolynomial : crc >> 1;
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; ++k)
    for (uint32_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xff];
  return tables;
}
constexpr Tables kTables = MakeTables();

}  // namespace

uint32_t Crc32c(const void* data, size_t bytes, uint32_t start) {
  const auto* p = static_cast<const unsigned char*>(data);
  uint32_t crc = ~start;
  for (; bytes >= 8; bytes -= 8, p += 8) {
    uint64_t word = 0;
    std::memcpy(&word, p, 8);  // little-endian, as all of Tern assumes
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][word >> (8 * k) & 0xff];
  }
  for (; bytes > 0; --bytes, ++p) crc = crc >> 8 ^ kTables[0][(crc ^ *p) & 0xff];
  return ~crc;
}

uint32_t MaskCrc(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

}  // namespace tern::tensorflow
