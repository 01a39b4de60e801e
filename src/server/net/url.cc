#include "server/net/url.h"

namespace tern::server {
namespace {

bool Unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

bool HasControls(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) <= ' ' || c == 127) return true;
  return false;
}

}  // namespace

Result<Url> ParseUrl(std::string_view text, int default_port) {
  const std::string whole(text);
  const auto invalid = [&] {
    return InvalidArgument("'", whole, "' is not a URL of the form http://HOST:PORT/PATH");
  };
  Url url;
  url.tls = StartsWith(text, "https://");
  if (url.tls)
    text.remove_prefix(8);
  else if (StartsWith(text, "http://"))
    text.remove_prefix(7);
  else if (text.find("://") != std::string_view::npos)
    return invalid();
  if (const size_t end = text.find_first_of("/?"); end != std::string_view::npos) {
    url.path = text.substr(end);
    if (url.path[0] == '?') url.path.insert(0, 1, '/');
    text = text.substr(0, end);
  }
  const size_t bracket = text.rfind(']');
  const size_t colon = text.rfind(':');
  int64_t port = default_port ? default_port : url.tls ? 443 : 80;
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    if (!ParseInt(text.substr(colon + 1), port) || port < 1 || port > 65535)
      return InvalidArgument("'", whole, "' has no valid port");
    text = text.substr(0, colon);
  }
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  if (text.empty() || HasControls(url.path) || HasControls(text) ||
      text.find_first_of("@#\\") != std::string_view::npos)
    return invalid();
  url.host = text;
  url.port = static_cast<int>(port);
  return url;
}

std::string HostField(const Url& url) {
  const bool six = url.host.find(':') != std::string::npos;
  std::string host = six ? StrCat("[", url.host, "]") : url.host;
  if (url.port != (url.tls ? 443 : 80)) host += StrCat(":", url.port);
  return host;
}

std::string AuthorizationLine(const Url& url) {
  return url.token.empty() ? "" : StrCat("Authorization: Bearer ", url.token, "\r\n");
}

std::string PlaceOf(const Url& url) { return StrCat(url.tls ? "https://" : "http://", HostField(url)); }

std::string PercentEncode(std::string_view text, bool keep_slash) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (Unreserved(c) || (keep_slash && c == '/')) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out;
}

}  // namespace tern::server
