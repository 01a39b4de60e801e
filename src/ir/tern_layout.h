// A .tern file starts with a prefix of 64 bytes. The FlatBuffers header and the data section follow.
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
