#include "data/tokenizer/byte_level.h"

#include "data/tokenizer/code_points.h"

namespace tern::data {
namespace {

constexpr bool IsPrintable(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
}

constexpr std::array<char32_t, 256> MakeCharacters() {
  std::array<char32_t, 256> out{};
  char32_t next = 0x100;
  for (int b = 0; b < 256; ++b)
    out[static_cast<size_t>(b)] = IsPrintable(b) ? static_cast<char32_t>(b) : next++;
  return out;
}
constexpr std::array<char32_t, 256> kCharacters = MakeCharacters();

constexpr size_t kTableSize = 0x100 + 256;
constexpr std::array<short, kTableSize> MakeBytes() {
  std::array<short, kTableSize> out{};
  for (auto& b : out) b = -1;
  for (size_t b = 0; b < 256; ++b) out[kCharacters[b]] = static_cast<short>(b);
  return out;
}
constexpr std::array<short, kTableSize> kBytes = MakeBytes();

}  // namespace

const std::array<char32_t, 256>& ByteCharacters() { return kCharacters; }

int ByteOfCharacter(char32_t c) { return c < kTableSize ? kBytes[c] : -1; }

void AppendByteCharacter(unsigned char byte, std::string& out) { AppendCodePoint(kCharacters[byte], out); }

std::optional<std::string> BytesOfCharacters(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const int byte = ByteOfCharacter(NextCodePoint(text, i));
    if (byte < 0) return std::nullopt;
    out.push_back(static_cast<char>(byte));
  }
  return out;
}

}  // namespace tern::data
