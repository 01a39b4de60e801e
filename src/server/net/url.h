// Addresses of HTTP servers.
#pragma once
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::server {

struct Url {
  std::string host;
  int port = 0;
  std::string path = "/";  // with the query
  bool tls = false;        // https
  std::string token;       // sent as "Authorization: Bearer TOKEN"; empty: none
};

// Parses "http://host:port/path", "https://host/path", "host:port" or "[::1]:8000". A URL without a port gets
// default_port. If default_port is 0, it gets 80 or 443.
Result<Url> ParseUrl(std::string_view text, int default_port);

// Returns the value of the Host field: the port is omitted if it is the usual one of the scheme.
std::string HostField(const Url& url);
// Returns "https://host:port", for messages.
std::string PlaceOf(const Url& url);

// Returns the line "Authorization: Bearer TOKEN\r\n", or "" if the URL has no token.
std::string AuthorizationLine(const Url& url);

// Percent-encodes all bytes but unreserved characters (RFC 3986). keep_slash leaves '/' as it is.
std::string PercentEncode(std::string_view text, bool keep_slash = false);

}  // namespace tern::server
