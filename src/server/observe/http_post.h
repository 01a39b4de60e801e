// Sends one HTTP request and waits for the answer, for threads that may block.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::server {

struct Url {
  std::string host;
  int port = 0;
  std::string path = "/";
  std::string token;  // sent as "Authorization: Bearer TOKEN"; empty: none
};
// Returns the line "Authorization: Bearer TOKEN\r\n", or "" if the URL has no token.
std::string AuthorizationLine(const Url& url);
// Parses "http://host:port/path", "host:port" or "[::1]:8000". A URL without a port gets default_port.
Result<Url> ParseUrl(std::string_view text, int default_port);

struct HttpAnswer {
  int status = 0;
  std::string body;
};
// `method` is "GET" or "POST". Fails with kIo if the server cannot be reached or does not answer within
// `limit`.
Result<HttpAnswer> Fetch(const Url& url, std::string_view method, std::string_view content_type,
                         std::string_view body, std::chrono::milliseconds limit);

}  // namespace tern::server
