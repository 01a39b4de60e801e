// The part of HttpConnection that writes responses.
#include "server/http/connection.h"
#include "server/http/json_writer.h"
#include "server/http/trace_context.h"

namespace tern::server {
namespace {

// If more bytes wait, the client does not read, and the connection is closed.
constexpr size_t kMaxUnread = size_t{64} << 20;

}  // namespace

void HttpConnection::Prepare(Exchange& exchange) {
  exchange.method = method_;
  exchange.target = target_;
  exchange.http11 = head_.http11;
  exchange.without_body = head_.method == Method::kHead;
  exchange.keep_alive = head_.keep_alive && !draining_;
  exchange.accept = head_.accept;
  exchange.arrived = request_time_;
  exchange.received = request_bytes_;
  exchange.user = user_;
  if (!traceparent_.empty()) ParseTraceParent(traceparent_, exchange.trace);
}

void HttpConnection::Register(std::shared_ptr<Exchange> exchange) {
  Prepare(*exchange);
  exchanges_.push_back(std::move(exchange));
}

Output& HttpConnection::Sink(Exchange& exchange) {
  return exchanges_.front().get() == &exchange ? out_ : exchange.held;
}

void HttpConnection::AppendConnectionFields(std::string& out, const Exchange& exchange) {
  const bool last =
      (draining_ || shared_->context.draining) && exchanges_.back().get() == &exchange && BetweenRequests();
  last_request_ |= last;
  if (!exchange.keep_alive || last)
    out += "Connection: close\r\n";
  else if (!exchange.http11)
    out += "Connection: keep-alive\r\n";
  const std::string& origin = shared_->options.cors_origin;
  if (!origin.empty()) {
    out += "Access-Control-Allow-Origin: ";
    out += origin;
    out += "\r\nAccess-Control-Expose-Headers: Inference-Header-Content-Length\r\n";
  }
}

void HttpConnection::AppendHead(std::string& out, const Exchange& exchange, const HttpReply& reply,
                                uint64_t length) {
  out += "HTTP/1.1 ";
  AppendJsonNumber(out, int64_t{reply.status});
  out += ' ';
  out += HttpReason(reply.status);
  if (!reply.type.empty()) {
    out += "\r\nContent-Type: ";
    out += reply.type;
  }
  if (reply.infer_header) {
    out += "\r\nInference-Header-Content-Length: ";
    AppendJsonNumber(out, uint64_t{reply.infer_header});
  }
  if (reply.encoding != Encoding::kIdentity) {
    out += "\r\nContent-Encoding: ";
    out += EncodingName(reply.encoding);
  }
  if (!reply.allow.empty()) {
    out += "\r\nAllow: ";
    out += reply.allow;
  }
  if (!reply.authenticate.empty()) {
    out += "\r\nWWW-Authenticate: ";
    out += reply.authenticate;
  }
  if (reply.retry_after.count() > 0) {
    out += "\r\nRetry-After: ";
    AppendJsonNumber(out, int64_t{(reply.retry_after.count() + 999) / 1000});
  }
  if (reply.preflight) {
    out += "\r\nAccess-Control-Allow-Methods: GET, POST, OPTIONS\r\nAccess-Control-Allow-Headers: ";
    out += shared_->cors_headers;
    out += "\r\nAccess-Control-Max-Age: 86400";
  }
  if (reply.status != 204) {
    out += "\r\nContent-Length: ";
    AppendJsonNumber(out, length);
  }
  out += "\r\n";
  AppendConnectionFields(out, exchange);
}

void HttpConnection::Reply(Exchange& exchange, HttpReply reply) {
  if (closed_ || exchange.answered) return;
  CompressReply(exchange.accept, reply);
  const uint64_t length = BodyBytes(reply);
  Output& out = Sink(exchange);
  std::string& text = out.Text();
  const size_t before = text.size();
  AppendHead(text, exchange, reply, length);
  text += "\r\n";
  exchange.sent = text.size() - before + (exchange.without_body ? 0 : length);
  exchange.status = reply.status;
  exchange.error = std::move(reply.error);
  if (!exchange.without_body) {
    out.Add(std::move(reply.body));
    for (const Buffer& bytes : reply.tail) out.Add(bytes);
  }
  Finish(exchange);
}

void HttpConnection::BeginStream(Exchange& exchange, int status, std::string_view type) {
  if (closed_ || exchange.answered) return;
  exchange.status = status;
  // HTTP/1.0 has no chunks, so the end of the connection marks the end of the response.
  if (!exchange.http11) exchange.keep_alive = false, last_request_ = true;
  std::string& text = Sink(exchange).Text();
  const size_t before = text.size();
  text += "HTTP/1.1 ";
  AppendJsonNumber(text, int64_t{status});
  text += ' ';
  text += HttpReason(status);
  text += "\r\nContent-Type: ";
  text += type;
  text += "\r\nCache-Control: no-cache\r\n";
  if (exchange.http11) text += "Transfer-Encoding: chunked\r\n";
  AppendConnectionFields(text, exchange);
  text += "\r\n";
  exchange.sent += text.size() - before;
}

void HttpConnection::StreamText(Exchange& exchange, std::string_view data) {
  if (closed_ || exchange.answered || data.empty()) return;
  std::string& text = Sink(exchange).Text();
  const size_t before = text.size();
  if (exchange.http11) {
    char size[20];
    text.append(size, static_cast<size_t>(snprintf(size, sizeof size, "%zx\r\n", data.size())));
  }
  text += data;
  if (exchange.http11) text += "\r\n";
  exchange.sent += text.size() - before;
  if (out_.bytes() + exchange.held.bytes() > kMaxUnread) return Close();
  if (!busy_) Progress();
}

void HttpConnection::EndStream(Exchange& exchange) {
  if (closed_ || exchange.answered) return;
  if (exchange.http11) Sink(exchange).Text() += "0\r\n\r\n";
  Finish(exchange);
}

void HttpConnection::Finish(Exchange& exchange) {
  exchange.answered = true;
  answer_time_ = Clock::now();
  if (Observability* observer = shared_->context.observability) {
    AccessRecord record;
    record.protocol = "http";
    record.method = exchange.method;
    record.target = exchange.target;
    record.user = exchange.user;
    record.status = exchange.status;
    record.error = exchange.error;
    record.received = exchange.received;
    record.sent = exchange.sent;
    record.duration = answer_time_ - exchange.arrived;
    if (!exchange.trace.trace_id.empty()) record.trace = &exchange.trace;
    exchange.Describe(record);
    observer->OnRequest(record);
  }
  // Progress and PopFinished may destroy `exchange`. While busy_ is set, Progress is called later.
  if (!busy_) return Progress();
  PopFinished();
}

}  // namespace tern::server
