#include "server/store/times.h"

#include <chrono>
#include <ctime>

namespace tern::server {
namespace {

std::optional<int64_t> Parse(const std::string& text, const char* format, const char** rest) {
  tm utc{};
  *rest = strptime(text.c_str(), format, &utc);
  if (!*rest) return std::nullopt;
  return static_cast<int64_t>(timegm(&utc));
}

}  // namespace

std::optional<int64_t> ParseIsoTime(const std::string& text) {
  const char* rest = nullptr;
  const auto time = Parse(text, "%Y-%m-%dT%H:%M:%S", &rest);
  if (!time) return std::nullopt;
  if (*rest == '.')
    for (++rest; *rest >= '0' && *rest <= '9';) ++rest;
  return std::string(rest) == "Z" || std::string(rest) == "+00:00" ? time : std::nullopt;
}

std::optional<int64_t> ParseHttpTime(const std::string& text) {
  const char* rest = nullptr;
  const auto time = Parse(text, "%a, %d %b %Y %H:%M:%S", &rest);
  return time && std::string(rest) == " GMT" ? time : std::nullopt;
}

int64_t UnixNow() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace tern::server
