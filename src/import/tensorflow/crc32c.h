// CRC-32C, the checksum of variables bundles.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tern::tensorflow {

uint32_t Crc32c(const void* data, size_t bytes, uint32_t start = 0);
// Bundles store checksums in a masked form. A CRC of bytes that contain their own CRCs would detect fewer
// errors.
uint32_t MaskCrc(uint32_t crc);

}  // namespace tern::tensorflow
