// The gRPC client of the load generator. It makes one call at a time over an HTTP/2 connection, with nghttp2.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>

#include "server/load/socket_client.h"

namespace tern::server::loadgen {
namespace {

constexpr int kWindow = 1 << 24;
constexpr uint32_t kFrame = 1 << 20;  // one call of send carries one frame
constexpr int kUnavailable = 14, kResourceExhausted = 8;

nghttp2_nv Header(std::string_view name, std::string_view value) {
  nghttp2_nv nv{};
  nv.name = reinterpret_cast<uint8_t*>(const_cast<char*>(name.data()));
  nv.namelen = name.size();
  nv.value = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data()));
  nv.valuelen = value.size();
  nv.flags = NGHTTP2_NV_FLAG_NONE;
  return nv;
}

class GrpcClient final : public SocketClient {
 public:
  using SocketClient::SocketClient;
  ~GrpcClient() override { nghttp2_session_del(session_); }

 protected:
  void OnOpen() override;
  void Start(const RequestBytes& request) override;
  int Output(iovec* parts) override;
  void OnSent(size_t bytes) override;
  bool OnReceived(std::string_view bytes) override;
  bool CloseAfterAnswer() const override { return close_; }

 private:
  static ssize_t Read(nghttp2_session*, int32_t, uint8_t*, size_t size, uint32_t* flags, nghttp2_data_source*,
                      void* self);
  static int SendData(nghttp2_session*, nghttp2_frame*, const uint8_t* header, size_t size,
                      nghttp2_data_source*, void* self);
  static ssize_t FrameSize(nghttp2_session*, uint8_t, int32_t, int32_t connection_window,
                           int32_t stream_window, uint32_t max_frame, void*) {
    const int64_t window = std::min(connection_window, stream_window);
    return static_cast<ssize_t>(std::min<int64_t>({window, max_frame, kFrame}));
  }
  static int OnHeader(nghttp2_session*, const nghttp2_frame*, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t, void* self);
  static int OnData(nghttp2_session*, uint8_t, int32_t, const uint8_t* data, size_t size, void* self);
  static int OnClose(nghttp2_session*, int32_t stream, uint32_t error, void* self);
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self);
  void Report();

  nghttp2_session* session_ = nullptr;
  std::string frames_;        // bytes to send
  size_t sent_ = 0;           // of frames_
  std::string_view payload_;  // of the DATA frame whose header is at the end of frames_
  std::string_view message_;  // what no frame contains yet
  int32_t stream_ = -1;
  int status_ = -1, http_status_ = 0;
  bool done_ = false, close_ = false;
  uint32_t error_ = 0;
  std::string text_, body_;
};

void GrpcClient::OnOpen() {
  nghttp2_session_del(session_);
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
  nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, FrameSize);
  nghttp2_session_callbacks_set_send_data_callback(callbacks, SendData);
  nghttp2_session_client_new(&session_, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow},
                                             {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kFrame},
                                             {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kWindow);
  frames_.clear();
  sent_ = 0;
  payload_ = {};
  close_ = false;
}

void GrpcClient::Start(const RequestBytes& request) {
  const std::string authority = StrCat(url().host, ":", url().port);
  const std::string authorization = StrCat("Bearer ", url().token);
  const nghttp2_nv headers[] = {Header(":method", "POST"),         Header(":scheme", "http"),
                                Header(":path", request.path),     Header(":authority", authority),
                                Header("te", "trailers"),          Header("content-type", "application/grpc"),
                                Header("user-agent", "tern-load"), Header("authorization", authorization)};
  message_ = request.bytes;
  status_ = -1;
  http_status_ = 0;
  done_ = false;
  text_.clear();
  body_.clear();
  nghttp2_data_provider provider{};
  provider.read_callback = Read;
  const size_t count = std::size(headers) - (url().token.empty() ? 1 : 0);
  stream_ = nghttp2_submit_request(session_, nullptr, headers, count, &provider, nullptr);
}

// Announces the size of a DATA frame. SendData then sends the bytes without a copy.
ssize_t GrpcClient::Read(nghttp2_session*, int32_t, uint8_t*, size_t size, uint32_t* flags,
                         nghttp2_data_source*, void* self) {
  const std::string_view message = static_cast<GrpcClient*>(self)->message_;
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (message.size() <= size) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(std::min(size, message.size()));
}

int GrpcClient::SendData(nghttp2_session*, nghttp2_frame*, const uint8_t* header, size_t size,
                         nghttp2_data_source*, void* self) {
  auto& c = *static_cast<GrpcClient*>(self);
  if (!c.payload_.empty()) return NGHTTP2_ERR_WOULDBLOCK;
  c.frames_.append(reinterpret_cast<const char*>(header), 9);
  c.payload_ = c.message_.substr(0, size);
  c.message_.remove_prefix(size);
  return 0;
}

int GrpcClient::Output(iovec* parts) {
  while (session_ && payload_.empty()) {
    const uint8_t* data = nullptr;
    const size_t before = frames_.size();
    const ssize_t n = nghttp2_session_mem_send(session_, &data);
    if (n > 0) frames_.append(reinterpret_cast<const char*>(data), static_cast<size_t>(n));
    if (n < 0 || frames_.size() == before) break;
  }
  int count = 0;
  if (sent_ < frames_.size()) parts[count++] = {frames_.data() + sent_, frames_.size() - sent_};
  if (!payload_.empty()) parts[count++] = {const_cast<char*>(payload_.data()), payload_.size()};
  return count;
}

void GrpcClient::OnSent(size_t bytes) {
  const size_t of_frames = std::min(bytes, frames_.size() - sent_);
  sent_ += of_frames;
  payload_.remove_prefix(bytes - of_frames);
  if (sent_ < frames_.size()) return;
  frames_.clear();
  sent_ = 0;
}

int GrpcClient::OnHeader(nghttp2_session*, const nghttp2_frame*, const uint8_t* name, size_t name_size,
                         const uint8_t* value, size_t value_size, uint8_t, void* self) {
  auto& c = *static_cast<GrpcClient*>(self);
  const std::string_view key(reinterpret_cast<const char*>(name), name_size);
  const std::string_view text(reinterpret_cast<const char*>(value), value_size);
  int64_t number = 0;
  if (key == "grpc-status" && ParseInt(text, number)) c.status_ = static_cast<int>(number);
  if (key == ":status" && ParseInt(text, number)) c.http_status_ = static_cast<int>(number);
  if (key == "grpc-message") c.text_ = text.substr(0, 300);
  return 0;
}

int GrpcClient::OnData(nghttp2_session*, uint8_t, int32_t, const uint8_t* data, size_t size, void* self) {
  auto& c = *static_cast<GrpcClient*>(self);
  if (c.keep_body_ && c.body_.size() + size < (64u << 20))
    c.body_.append(reinterpret_cast<const char*>(data), size);
  return 0;
}

int GrpcClient::OnClose(nghttp2_session*, int32_t stream, uint32_t error, void* self) {
  auto& c = *static_cast<GrpcClient*>(self);
  if (stream != c.stream_) return 0;
  c.done_ = true;
  c.error_ = error;
  return 0;
}

int GrpcClient::OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  if (frame->hd.type == NGHTTP2_GOAWAY) static_cast<GrpcClient*>(self)->close_ = true;
  return 0;
}

bool GrpcClient::OnReceived(std::string_view bytes) {
  const ssize_t n =
      nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (n < 0) return false;
  if (done_) Report();
  return true;
}

void GrpcClient::Report() {
  done_ = false;
  Answer answer;
  answer.status = status_;
  answer.ok = status_ == 0;
  answer.refused = status_ == kUnavailable || status_ == kResourceExhausted;
  if (!answer.ok)
    answer.message = status_ >= 0
                         ? StrCat("gRPC ", status_, ": ", text_)
                         : StrCat("no gRPC status (HTTP ", http_status_, ", stream error ", error_, ")");
  if (keep_body_ && body_.size() >= 5) answer.body = body_.substr(5);
  Finish(std::move(answer));
}

}  // namespace

std::unique_ptr<ClientConnection> ConnectGrpc(Loop& loop, const Url& url, AnswerSink& sink) {
  return std::make_unique<GrpcClient>(loop, url, sink);
}

}  // namespace tern::server::loadgen
