#include "server/http/request_head.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <cstring>

#include "server/http/decimal.h"

namespace tern::server {
namespace {

namespace beast = boost::beast;
using BeastView = beast::string_view;

std::string_view View(BeastView text) { return {text.data(), text.size()}; }

// Calls f for each token. For "a, b;q=1" it calls f("a") and f("b;q=1").
template <class F> void ForEachToken(std::string_view list, F&& f) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view token = list.substr(0, comma);
    list = comma == list.npos ? std::string_view() : list.substr(comma + 1);
    while (!token.empty() && (token.front() == ' ' || token.front() == '\t')) token.remove_prefix(1);
    while (!token.empty() && (token.back() == ' ' || token.back() == '\t')) token.remove_suffix(1);
    if (!token.empty()) f(token);
  }
}

// Stores the header fields that the server uses.
class HeadParser final : public beast::http::basic_parser<true> {
 public:
  explicit HeadParser(RequestHead& head) : head_(head) {}
  HeadError error;
  bool has_host = false;
  bool connection_close = false, connection_keep_alive = false;

 private:
  using Error = beast::error_code;
  void on_request_impl(beast::http::verb verb, BeastView method, BeastView target, int version,
                       Error&) override;
  void on_field_impl(beast::http::field field, BeastView name, BeastView value, Error&) override;
  void on_response_impl(int, BeastView, int, Error&) override {}
  void on_header_impl(Error&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(BeastView text, Error&) override { return text.size(); }
  void on_chunk_header_impl(std::uint64_t, BeastView, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, BeastView text, Error&) override { return text.size(); }
  void on_finish_impl(Error&) override {}

  void Fail(int status, const char* message) {
    if (error.status == 0) error = {status, message};
  }
  void ContentLength(std::string_view value);
  void TransferEncoding(std::string_view value);
  void ContentEncoding(std::string_view value);
  void AcceptEncoding(std::string_view value);
  void Connection(std::string_view value);
  void Expect(std::string_view value);
  void Other(std::string_view name, std::string_view value);

  RequestHead& head_;
  int fields_ = 0;
};

void HeadParser::on_request_impl(beast::http::verb code, BeastView method, BeastView target, int version,
                                 Error&) {
  using beast::http::verb;
  head_.method_name = View(method);
  head_.target = View(target);
  head_.method = code == verb::get       ? Method::kGet
                 : code == verb::head    ? Method::kHead
                 : code == verb::post    ? Method::kPost
                 : code == verb::options ? Method::kOptions
                                         : Method::kOther;
  head_.http11 = version == 11;
  if (version != 11 && version != 10) Fail(505, "only HTTP/1.0 and HTTP/1.1 are supported");
}

BodyType BodyTypeOf(std::string_view value) {
  value = value.substr(0, value.find(';'));
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  const auto begins = [&](std::string_view text) {
    return value.size() > text.size() && EqualsIgnoreCase(value.substr(0, text.size()), text);
  };
  if (value.empty() || EqualsIgnoreCase(value, "application/x-www-form-urlencoded"))
    return BodyType::kUnstated;
  if (begins("image/") || begins("audio/") || EqualsIgnoreCase(value, "text/plain") ||
      EqualsIgnoreCase(value, "application/octet-stream"))
    return BodyType::kItem;
  return EqualsIgnoreCase(value, "multipart/form-data") ? BodyType::kForm : BodyType::kOther;
}

void HeadParser::on_field_impl(beast::http::field code, BeastView beast_name, BeastView beast_value, Error&) {
  using beast::http::field;
  const std::string_view value = View(beast_value);
  if (++fields_ > 100) Fail(431, "the request has more than 100 header fields");
  switch (code) {
    case field::content_length:
      return ContentLength(value);
    case field::transfer_encoding:
      return TransferEncoding(value);
    case field::content_encoding:
      return ContentEncoding(value);
    case field::accept_encoding:
      return AcceptEncoding(value);
    case field::connection:
      return Connection(value);
    case field::expect:
      return Expect(value);
    case field::host:
      if (has_host) Fail(400, "the request has more than one Host field");
      has_host = true;
      return;
    case field::content_type:
      head_.body_type = BodyTypeOf(value);
      return;
    case field::authorization:
      if (head_.authorizations++ == 0) head_.authorization = value;
      return;
    case field::unknown:
      return Other(View(beast_name), value);
    default:
      return;
  }
}

void HeadParser::ContentLength(std::string_view value) {
  const auto length = ParseDecimal(value);
  if (!length) return Fail(400, "malformed Content-Length");
  if (head_.content_length) return Fail(400, "more than one Content-Length");
  head_.content_length = length;
}

void HeadParser::TransferEncoding(std::string_view value) {
  if (head_.chunked) return Fail(400, "more than one Transfer-Encoding");
  if (!EqualsIgnoreCase(value, "chunked"))
    return Fail(501, "only the transfer encoding 'chunked' is supported");
  head_.chunked = true;
}

void HeadParser::ContentEncoding(std::string_view value) {
  if (head_.encoding != Encoding::kIdentity) return Fail(415, "more than one Content-Encoding");
  if (value.empty() || EqualsIgnoreCase(value, "identity")) return;
  if (EqualsIgnoreCase(value, "gzip") || EqualsIgnoreCase(value, "x-gzip"))
    head_.encoding = Encoding::kGzip;
  else if (EqualsIgnoreCase(value, "deflate"))
    head_.encoding = Encoding::kDeflate;
  else
    Fail(415, "Unsupported content-encoding, only 'gzip', 'deflate' and 'identity' are supported");
}

// Selects the first encoding that the server supports. q=0 means that the client refuses an encoding.
void HeadParser::AcceptEncoding(std::string_view value) {
  ForEachToken(value, [this](std::string_view token) {
    const size_t semicolon = token.find(';');
    std::string_view name = token.substr(0, semicolon);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    const std::string_view weight = semicolon == token.npos ? "" : token.substr(semicolon);
    const size_t q = weight.find("q=0");
    if (q != weight.npos && weight.find_first_of("123456789", q) == weight.npos) return;
    if (head_.accept != Encoding::kIdentity) return;
    if (EqualsIgnoreCase(name, "gzip")) head_.accept = Encoding::kGzip;
    if (EqualsIgnoreCase(name, "deflate")) head_.accept = Encoding::kDeflate;
  });
}

void HeadParser::Connection(std::string_view value) {
  ForEachToken(value, [this](std::string_view token) {
    connection_close |= EqualsIgnoreCase(token, "close");
    connection_keep_alive |= EqualsIgnoreCase(token, "keep-alive");
  });
}

void HeadParser::Expect(std::string_view value) {
  if (value.empty()) return;
  if (!EqualsIgnoreCase(value, "100-continue")) return Fail(417, "unknown expectation");
  head_.expect_continue = true;
}

void HeadParser::Other(std::string_view name, std::string_view value) {
  if (EqualsIgnoreCase(name, "Inference-Header-Content-Length")) {
    if (head_.infer_header) return Fail(400, "more than one Inference-Header-Content-Length");
    head_.infer_header = ParseDecimal(value);
    if (!head_.infer_header) Fail(400, "Unable to parse Inference-Header-Content-Length");
  } else if (EqualsIgnoreCase(name, "traceparent")) {
    head_.traceparent = value;
  }
}

HeadError CheckFraming(const HeadParser& parser, RequestHead& head) {
  if (head.chunked && head.content_length)
    return {400, "both Content-Length and Transfer-Encoding are given"};
  if (head.chunked && !head.http11) return {400, "HTTP/1.0 has no Transfer-Encoding"};
  if (head.http11 && !parser.has_host) return {400, "the Host field is missing"};
  head.expect_continue = head.expect_continue && head.http11;
  head.keep_alive = !parser.connection_close && (head.http11 || parser.connection_keep_alive);
  return {};
}

}  // namespace

HeadScan ScanHead(std::string_view received, size_t& line) {
  while (line < received.size()) {
    const char* begin = received.data() + line;
    const auto* end = static_cast<const char*>(std::memchr(begin, '\n', received.size() - line));
    const size_t length = end ? static_cast<size_t>(end - begin) : received.size() - line;
    // A CR is allowed only right before the LF, or as the last byte that has arrived.
    const auto* cr = static_cast<const char*>(std::memchr(begin, '\r', length));
    if (cr && cr != begin + length - 1) return {HeadScan::Outcome::kBad, 0};
    if (!end) return {};
    if (!cr || std::memchr(begin, '\0', length) || *begin == ' ' || *begin == '\t')
      return {HeadScan::Outcome::kBad, 0};
    line += length + 1;
    if (length == 1) return {HeadScan::Outcome::kComplete, line};
  }
  return {};
}

HeadError ParseHead(std::string_view text, RequestHead& head) {
  head = RequestHead();
  HeadParser parser(head);
  parser.header_limit(static_cast<uint32_t>(kMaxHeadBytes + 1));
  parser.body_limit(boost::none);
  parser.skip(true);
  beast::error_code failure;
  parser.put(boost::asio::const_buffer(text.data(), text.size()), failure);
  // The checks of HeadParser come first, because they are stricter than Beast's and have better messages.
  if (parser.error.status) return parser.error;
  if (failure == beast::http::error::bad_version) return {505, "only HTTP/1.0 and HTTP/1.1 are supported"};
  if (head.chunked && head.content_length)
    return {400, "both Content-Length and Transfer-Encoding are given"};
  if (failure == beast::http::error::bad_content_length) return {400, "malformed or repeated Content-Length"};
  if (failure == beast::http::error::header_limit) return {431, "the header is too long"};
  if (failure || !parser.is_header_done()) return {400, "malformed request"};
  return CheckFraming(parser, head);
}

Headers FieldsOf(std::string_view text) {
  Headers fields;
  text.remove_prefix(std::min(text.size(), text.find('\n') + 1));  // the request line
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\r'));
    const size_t colon = line.find(':');
    if (colon == line.npos) break;  // the empty line
    std::string_view value = line.substr(colon + 1);
    const auto space = [](char c) { return c == ' ' || c == '\t'; };
    while (!value.empty() && space(value.front())) value.remove_prefix(1);
    while (!value.empty() && space(value.back())) value.remove_suffix(1);
    fields.emplace_back(line.substr(0, colon), value);
    text.remove_prefix(std::min(text.size(), line.size() + 2));
  }
  return fields;
}

}  // namespace tern::server
