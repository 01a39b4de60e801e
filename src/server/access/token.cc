#include "server/access/token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <memory>

namespace tern::server {
namespace {

constexpr std::string_view kHashPrefix = "sha256:";
constexpr std::string_view kScheme = "bearer ";

bool IsTokenCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_' || c == '~' || c == '+' || c == '/';
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

Result<std::string> MakeToken() {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  uint8_t random[33] = {};  // the last byte is padding: base64 encodes groups of three bytes
  if (RAND_bytes(random, 32) != 1) return Status(Code::kInternal, "the system has no random numbers");
  std::string token(kTokenPrefix);
  for (size_t i = 0; i < sizeof random; i += 3) {
    const uint32_t group = static_cast<uint32_t>(random[i] << 16 | random[i + 1] << 8 | random[i + 2]);
    for (int shift = 18; shift >= 0; shift -= 6) token += kDigits[group >> shift & 63];
  }
  token.pop_back();
  OPENSSL_cleanse(random, sizeof random);
  return token;
}

TokenHash HashToken(std::string_view token) {
  // Each thread keeps its context, because making one takes longer than hashing a token.
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  TokenHash hash{};
  unsigned size = 0;
  const bool done = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1 &&
                    EVP_DigestUpdate(context.get(), token.data(), token.size()) == 1 &&
                    EVP_DigestFinal_ex(context.get(), hash.data(), &size) == 1;
  TERN_CHECK(done && size == hash.size(), "SHA-256 fails");
  return hash;
}

std::string HashText(const TokenHash& hash) {
  std::string text(kHashPrefix);
  for (const uint8_t byte : hash) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::optional<TokenHash> ParseHash(std::string_view text) {
  TokenHash hash{};
  if (!text.starts_with(kHashPrefix) || text.size() != kHashPrefix.size() + 2 * hash.size()) return {};
  text.remove_prefix(kHashPrefix.size());
  for (size_t i = 0; i < hash.size(); ++i) {
    const int high = HexDigit(text[2 * i]), low = HexDigit(text[2 * i + 1]);
    if (high < 0 || low < 0) return {};
    hash[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return hash;
}

bool SameHash(const TokenHash& a, const TokenHash& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<std::string_view> ParseBearer(std::string_view value) {
  if (value.size() <= kScheme.size() || value.size() > kScheme.size() + kMaxTokenBytes) return {};
  const bool bearer = std::equal(kScheme.begin(), kScheme.end(), value.begin(), [](char lower, char c) {
    return lower == (c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  });
  if (!bearer) return {};
  value.remove_prefix(kScheme.size());
  const std::string_view body = value.substr(0, value.find('='));
  if (body.empty() || !std::all_of(body.begin(), body.end(), IsTokenCharacter)) return {};
  if (value.find_first_not_of('=', body.size()) != std::string_view::npos) return {};
  return value;
}

}  // namespace tern::server
