// Base64 (RFC 4648), the form of bytes in JSON.
#pragma once
#include <string>
#include <string_view>

namespace tern::server {

// Padding may be missing. Line ends are skipped. Returns false for any other character and for a wrong
// length.
bool DecodeBase64(std::string_view text, std::string& out);
std::string EncodeBase64(std::string_view bytes);

}  // namespace tern::server
