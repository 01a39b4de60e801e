// An HTTP/1.1 client for threads that may wait: TLS, connections that stay open, chunked bodies, limits.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <mutex>

#include "server/net/client_socket.h"
#include "server/net/http_answer.h"

namespace tern::server {

struct HttpClientOptions {
  std::string authorities;  // a PEM file of trusted authorities; empty: those of the system
  std::chrono::milliseconds connect_limit{5000};
  std::chrono::milliseconds idle_limit{30000};  // time without a byte from the server
  size_t head_bytes = 64 << 10;                 // limit on the head of an answer
};

struct HttpRequest {
  std::string method = "GET";
  HttpFields fields;  // without Host, Content-Length and Connection
  std::string body;
  uint64_t max_body_bytes = uint64_t{64} << 20;  // of the answer
  int redirects = 0;                             // the largest number of redirects to follow; only for GET
  // Receives the body of an answer with status 200 or 206, piece by piece. Null: the body is collected in the
  // answer. The first argument is the head. If the function returns an error, the transfer ends with this
  // error.
  std::function<Status(const HttpAnswer& head, std::string_view piece)> sink;
};

// Thread-safe. At most 16 idle connections stay open, for 20 s.
class HttpClient {
 public:
  static Result<std::unique_ptr<HttpClient>> Create(const HttpClientOptions& options);

  // Sends one request and waits for the complete answer, whatever its status is. Fails with kIo if the server
  // cannot be reached, is too slow or does not speak HTTP (a retry may succeed), with kCancelled when `stop`
  // says so, with kResourceExhausted if the answer is longer than its limit, and with kInvalidArgument if the
  // server's certificate is not accepted. A redirect never leads from https to http, and fields that
  // authorize the request are sent to no other host.
  Result<HttpAnswer> Send(const Url& url, const HttpRequest& request, const Stop& stop);

 private:
  struct Idle {
    std::unique_ptr<ClientSocket> socket;
    std::chrono::steady_clock::time_point since;
  };
  explicit HttpClient(HttpClientOptions options) : options_(std::move(options)) {}
  Result<HttpAnswer> SendOnce(const Url& url, const HttpRequest& request, const Stop& stop);
  Result<std::shared_ptr<ClientTls>> Tls();  // reads the certificates of the system at the first call
  std::unique_ptr<ClientSocket> TakeIdle(const std::string& place);
  void Keep(const std::string& place, std::unique_ptr<ClientSocket> socket);

  const HttpClientOptions options_;
  std::mutex mutex_;
  std::shared_ptr<ClientTls> tls_;
  std::multimap<std::string, Idle> idle_;  // by "scheme://host:port"
};

// Sends one request on a connection of its own. `method` is "GET" or "POST". Fails with kIo if the server
// cannot be reached or does not answer within `limit`.
Result<HttpAnswer> Fetch(const Url& url, std::string_view method, std::string_view content_type,
                         std::string_view body, std::chrono::milliseconds limit);

}  // namespace tern::server
