// Bearer tokens: how they are made, read from requests and stored.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::server {

// A token is random, so its SHA-256 can be stored without salt and without a slow function: there is no
// dictionary to try, and a slow function would let anybody keep the server busy with wrong tokens.
using TokenHash = std::array<uint8_t, 32>;

inline constexpr std::string_view kTokenPrefix = "tern_";  // lets scanners find tokens that leaked
inline constexpr size_t kMaxTokenBytes = 512;

// Returns a new token: the prefix and 256 random bits as base64url.
Result<std::string> MakeToken();
TokenHash HashToken(std::string_view token);
std::string HashText(const TokenHash& hash);  // "sha256:" and 64 hexadecimal digits
std::optional<TokenHash> ParseHash(std::string_view text);
// Takes the same time wherever the hashes differ.
bool SameHash(const TokenHash& a, const TokenHash& b);

// Returns the token of a value of the field Authorization, "Bearer TOKEN". The scheme ignores case; exactly
// one space and a token of RFC 6750's characters follow. Returns nullopt for any other text.
std::optional<std::string_view> ParseBearer(std::string_view value);

}  // namespace tern::server
