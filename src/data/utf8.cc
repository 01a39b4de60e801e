#include "data/utf8.h"

namespace tern::data {

std::optional<std::vector<uint32_t>> DecodeUtf8(std::string_view text) {
  std::vector<uint32_t> out;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<uint8_t>(text[i]);
    const int trailing = first < 0x80       ? 0
                         : first >> 5 == 6  ? 1
                         : first >> 4 == 14 ? 2
                         : first >> 3 == 30 ? 3
                                            : -1;
    if (trailing < 0 || i + static_cast<size_t>(trailing) >= text.size()) return std::nullopt;
    uint32_t c = trailing == 0 ? first : first & (0x3fu >> trailing);
    for (int k = 1; k <= trailing; ++k) {
      const auto next = static_cast<uint8_t>(text[i + static_cast<size_t>(k)]);
      if (next >> 6 != 2) return std::nullopt;
      c = c << 6 | (next & 0x3f);
    }
    constexpr uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
    if (c < kSmallest[trailing] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return std::nullopt;
    out.push_back(c);
    i += static_cast<size_t>(trailing) + 1;
  }
  return out;
}

bool AppendUtf8(uint32_t c, std::string& out) {
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return false;
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
    return true;
  }
  const int trailing = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  put((0xff00u >> (trailing + 1) & 0xff) | c >> (6 * trailing));
  for (int k = trailing - 1; k >= 0; --k) put(0x80 | (c >> (6 * k) & 0x3f));
  return true;
}

}  // namespace tern::data
