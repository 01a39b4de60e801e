// Base64 (RFC 4648), as files of models arrive in JSON.
#pragma once
#include <string>
#include <string_view>

namespace tern::server {

// Padding may be missing. Line ends are skipped. False for any other character and a wrong length.
bool DecodeBase64(std::string_view text, std::string& out);

}  // namespace tern::server
