// The fixed prefix of a .tern file: 64 bytes, followed by the FlatBuffers header and the data section.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tern {

inline constexpr size_t kTernAlign = 64;

struct TernPrefix {
  char magic[8];
  uint32_t major, minor;
  uint64_t header_size;
  uint64_t header_checksum;
  char reserved[32];
};
static_assert(sizeof(TernPrefix) == kTernAlign);

constexpr uint64_t AlignTern(uint64_t n) { return (n + kTernAlign - 1) / kTernAlign * kTernAlign; }

}  // namespace tern
