#include "data/image/bmp_header.h"

#include <algorithm>

namespace tern::data {
namespace {

constexpr size_t kFileHeader = 14;
constexpr uint32_t kCoreHeader = 12;  // of OS/2, with sizes of 16 bits and a palette of 3 bytes per colour

// A negative height is stored from top to bottom.
void SetHeight(uint32_t height, BmpHeader& h) {
  h.top_down = height >> 31;
  h.height = h.top_down ? uint64_t{0x1'0000'0000} - height : height;
}

bool IsPalette(const BmpHeader& h) { return h.bits <= 8; }
bool IsRle(const BmpHeader& h) {
  return h.compression == BmpCompression::kRle8 || h.compression == BmpCompression::kRle4;
}
bool HasMasks(const BmpHeader& h) {
  return h.compression == BmpCompression::kBitfields || h.compression == BmpCompression::kAlphaBitfields;
}

Status CheckDepth(const BmpHeader& h) {
  const auto c = static_cast<uint32_t>(h.compression);
  constexpr uint32_t depths[] = {1, 4, 8, 16, 24, 32};
  if (std::find(std::begin(depths), std::end(depths), h.bits) == std::end(depths))
    return Unsupported("a BMP of ", h.bits, " bits per pixel; 1, 4, 8, 16, 24 and 32 are supported");
  if (h.compression != BmpCompression::kRaw && !IsRle(h) && !HasMasks(h))
    return Unsupported("a BMP with compression ", c);
  const bool fits = h.compression == BmpCompression::kRle8   ? h.bits == 8
                    : h.compression == BmpCompression::kRle4 ? h.bits == 4
                    : HasMasks(h)                            ? h.bits == 16 || h.bits == 32
                                                             : true;
  if (!fits) return InvalidArgument("broken BMP: compression ", c, " with ", h.bits, " bits per pixel");
  if (IsRle(h) && h.top_down) return InvalidArgument("broken BMP: a compressed picture is top-down");
  return {};
}

Status ReadMasks(ByteReader& in, uint32_t header_size, BmpHeader& h) {
  if (h.bits == 16) h.masks = {0x7c00, 0x3e0, 0x1f};
  if (h.bits == 32) h.masks = {0xff0000, 0xff00, 0xff};
  if (!HasMasks(h)) return {};
  std::array<uint32_t, 3> masks;
  for (uint32_t& mask : masks) mask = in.U32();
  if (header_size == 40 && h.compression == BmpCompression::kAlphaBitfields) in.U32();
  if (masks == std::array<uint32_t, 3>{0, 0, 0}) return {};  // the default masks
  for (const uint32_t mask : masks) {
    const uint32_t ones = mask ? mask >> __builtin_ctz(mask) : 0;
    if (ones == 0 || (ones & (ones + 1)) || (h.bits == 16 && mask >> 16))
      return InvalidArgument("broken BMP: ", mask, " is not a mask of a colour of ", h.bits, " bits");
  }
  h.masks = masks;
  return {};
}

Status ReadPalette(ByteReader& in, uint32_t colours, size_t entry, BmpHeader& h) {
  h.palette.resize(256);
  const size_t most = size_t{1} << h.bits;
  if (colours == 0) colours = static_cast<uint32_t>(most);
  if (colours > 65536) return InvalidArgument("broken BMP: a palette of ", colours, " colours");
  for (size_t i = 0; i < colours; ++i) {
    const std::string_view c = in.Take(entry);
    if (in.failed())
      return InvalidArgument("broken BMP: the palette ends after ", i, " of ", colours, " colours");
    if (i >= 256) continue;
    for (size_t k = 0; k < 3; ++k) h.palette[i][k] = static_cast<uint8_t>(c[2 - k]);
  }
  return {};
}

}  // namespace

Result<BmpHeader> ReadBmpHeader(std::string_view bytes) {
  ByteReader in(bytes);
  in.Take(10);
  const uint32_t pixels_at = in.U32(), size = in.U32();
  constexpr uint32_t sizes[] = {kCoreHeader, 40, 52, 56, 64, 108, 124};
  if (std::find(std::begin(sizes), std::end(sizes), size) == std::end(sizes))
    return InvalidArgument("broken BMP: a header of ", size, " bytes");
  const bool core = size == kCoreHeader;
  BmpHeader h;
  h.width = core ? in.U16() : in.U32();
  SetHeight(core ? in.U16() : in.U32(), h);
  in.U16();  // planes
  h.bits = in.U16();
  uint32_t colours = 0;
  if (!core) {
    h.compression = static_cast<BmpCompression>(in.U32());
    in.Take(12);  // the size of the data and the resolution
    colours = in.U32();
    in.U32();  // the number of important colours
  }
  TERN_TRY(CheckDepth(h));
  TERN_TRY(ReadMasks(in, size, h));
  if (in.failed()) return InvalidArgument("broken BMP: the header ends after ", bytes.size(), " bytes");
  const size_t header_end = kFileHeader + size;
  if (in.at() < header_end) in.Take(header_end - in.at());
  if (IsPalette(h)) TERN_TRY(ReadPalette(in, colours, core ? 3 : 4, h));
  // Some programs write the position of the palette instead of that of the pixels.
  h.pixels_at = std::max<size_t>(pixels_at == header_end || pixels_at == 0 ? in.at() : pixels_at, header_end);
  if (in.failed() || h.pixels_at > bytes.size())
    return InvalidArgument("broken BMP: the pixels start at byte ", h.pixels_at, " of ", bytes.size());
  return h;
}

}  // namespace tern::data
