#include "tools/units.h"

#include "data/utf8.h"

namespace tern::tools {

std::string Printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t length = 0;
    for (size_t n = 1; n <= 4 && n <= text.size() && length == 0; ++n)
      if (data::DecodeUtf8(text.substr(0, n))) length = n;
    const auto first = static_cast<unsigned char>(text.front());
    const bool control = (first < 0x20 && first != '\n') || first == 0x7f ||
                         (length == 2 && first == 0xc2 && (text[1] & 0xe0) == 0x80);
    if (length == 0 || control) {
      length = 1;
      out += fmt::format("\\x{:02x}", first);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace tern::tools
