// Times in the forms of stores, as seconds since 1970.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace tern::server {

// "2026-11-19T04:10:34.000Z"; the fraction is optional.
std::optional<int64_t> ParseIsoTime(const std::string& text);
// The Date field of HTTP: "Thu, 19 Nov 2026 04:10:34 GMT".
std::optional<int64_t> ParseHttpTime(const std::string& text);
int64_t UnixNow();

}  // namespace tern::server
