#include "server/http/base64.h"

#include <cstdint>

namespace tern::server {
namespace {

int Value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace

bool DecodeBase64(std::string_view text, std::string& out) {
  out.clear();
  out.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0, padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      if (++padding > 2) return false;
      continue;
    }
    const int value = Value(c);
    if (value < 0 || padding) return false;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++count % 4 == 0) {
      out += static_cast<char>(bits >> 16);
      out += static_cast<char>(bits >> 8);
      out += static_cast<char>(bits);
    }
  }
  const int rest = count % 4;
  if (rest == 1 || (padding && (rest + padding) % 4 != 0)) return false;
  if (rest >= 2) out += static_cast<char>(rest == 2 ? bits >> 4 : bits >> 10);
  if (rest == 3) out += static_cast<char>(bits >> 2);
  return true;
}

std::string EncodeBase64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : kDigits[bits >> (18 - 6 * k) & 63];
  }
  return out;
}

}  // namespace tern::server
