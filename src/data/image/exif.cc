#include "data/image/formats.h"

namespace tern::data {
namespace {

// Numbers of a TIFF structure, in the byte order that its first byte declares. Positions outside are 0.
struct Tiff {
  std::string_view bytes;
  bool big;
  uint32_t Read(size_t at, size_t n) const {
    if (at > bytes.size() || n > bytes.size() - at) return 0;
    uint32_t v = 0;
    for (size_t i = 0; i < n; ++i) v = v << 8 | static_cast<uint8_t>(bytes[big ? at + i : at + n - 1 - i]);
    return v;
  }
};

}  // namespace

int ExifOrientation(std::string_view exif) {
  using std::string_view_literals::operator""sv;
  if (StartsWith(exif, "Exif\0\0"sv)) exif.remove_prefix(6);
  if (!StartsWith(exif, "II*\0"sv) && !StartsWith(exif, "MM\0*"sv)) return 1;
  const Tiff tiff{exif, exif[0] == 'M'};
  const size_t directory = tiff.Read(4, 4), entries = tiff.Read(directory, 2);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + 12 * i;
    if (entry + 12 > exif.size()) return 1;
    constexpr uint32_t kOrientation = 0x112, kShort = 3;
    if (tiff.Read(entry, 2) != kOrientation || tiff.Read(entry + 2, 2) != kShort) continue;
    const uint32_t value = tiff.Read(entry + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace tern::data
