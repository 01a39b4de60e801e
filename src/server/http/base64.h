// Decodes Base64 (RFC 4648), the form of model files in JSON load requests.
#pragma once
#include <string>
#include <string_view>

namespace tern::server {

// Padding may be missing. Line ends are skipped. Returns false for any other character and for a wrong
// length.
bool DecodeBase64(std::string_view text, std::string& out);

}  // namespace tern::server
