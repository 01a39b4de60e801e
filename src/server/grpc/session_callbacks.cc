#include "server/grpc/session_callbacks.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>

namespace tern::server {
namespace {

constexpr uint32_t kMaxStreams = 1024, kStreamWindow = 8 << 20, kConnectionWindow = 16 << 20,
                   kMaxFrame = 1 << 20, kMaxHeaderList = 16 << 10;

GrpcConnection& ConnectionOf(void* user) { return *static_cast<GrpcConnection*>(user); }

// Exceptions must not pass through nghttp2, because it is written in C. An exception ends the connection
// instead.
template <class F> int Protect(F&& body) {
  const Status status = Guard([&]() -> Status {
    body();
    return {};
  });
  return status.ok() ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

}  // namespace

void EndSession::operator()(nghttp2_session* session) const { nghttp2_session_del(session); }

// The functions that nghttp2 calls. A friend of GrpcConnection.
struct SessionCallbacks {
  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;  // these are trailers
    GrpcConnection& c = ConnectionOf(user);
    return Protect([&] {
      const int32_t id = frame->hd.stream_id;
      c.streams_[id] = std::make_unique<GrpcStream>(c, id, c.now_);
    });
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t, void* user) {
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    GrpcStream* stream = ConnectionOf(user).Find(frame->hd.stream_id);
    if (!stream) return 0;
    return Protect([&] {
      stream->OnHeader({reinterpret_cast<const char*>(name), name_size},
                       {reinterpret_cast<const char*>(value), value_size});
    });
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    GrpcConnection& c = ConnectionOf(user);
    return Protect([&] { Received(c, *frame); });
  }

  static void Received(GrpcConnection& c, const nghttp2_frame& frame) {
    switch (frame.hd.type) {
      case NGHTTP2_HEADERS:
        if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) ReceivedHeaders(c, frame.hd.stream_id);
        [[fallthrough]];
      case NGHTTP2_DATA:
        if (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) {
          if (GrpcStream* stream = c.Find(frame.hd.stream_id)) stream->OnEnd();
        } else if (frame.hd.type == NGHTTP2_DATA && frame.hd.length == 0 && !c.guard_.empty.Take(c.now_)) {
          c.Flooded("too_many_empty_frames");
        }
        return;
      case NGHTTP2_RST_STREAM:
        if (!c.guard_.resets.Take(c.now_)) c.Flooded("too_many_resets");
        return;
      case NGHTTP2_PRIORITY:
        if (!c.guard_.empty.Take(c.now_)) c.Flooded("too_many_empty_frames");
        return;
      case NGHTTP2_SETTINGS:
        c.started_ = true;
        if (!(frame.hd.flags & NGHTTP2_FLAG_ACK) && !c.guard_.settings.Take(c.now_))
          c.Flooded("too_many_settings");
        return;
      case NGHTTP2_PING:
        if (!(frame.hd.flags & NGHTTP2_FLAG_ACK) && !c.guard_.pings.Take(c.now_)) c.Flooded("too_many_pings");
        return;
      default:
        return;
    }
  }

  static void ReceivedHeaders(GrpcConnection& c, int32_t id) {
    GrpcStream* stream = c.Find(id);
    if (!stream) return;
    stream->OnHeaders();
    if (stream->timeout().count() > 0) c.fresh_.push_back(id);
  }

  // The connection must know how many bytes of a DATA frame have not arrived yet. It ignores padded frames,
  // because they are rare.
  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* header, void* user) {
    GrpcConnection& c = ConnectionOf(user);
    const bool plain = header->type == NGHTTP2_DATA && !(header->flags & NGHTTP2_FLAG_PADDED);
    c.data_stream_ = header->stream_id;
    c.data_left_ = plain ? header->length : 0;
    return 0;
  }

  static int OnDataChunk(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                         void* user) {
    GrpcConnection& c = ConnectionOf(user);
    c.data_left_ -= std::min(size, c.data_left_);
    return Protect([&] {
      if (GrpcStream* stream = c.Find(id))
        stream->OnData(reinterpret_cast<const char*>(data), size);
      else
        c.ConsumeConnection(size);
    });
  }

  static int OnStreamClose(nghttp2_session*, int32_t id, uint32_t, void* user) {
    GrpcConnection& c = ConnectionOf(user);
    return Protect([&] {
      const auto found = c.streams_.find(id);
      if (found == c.streams_.end()) return;
      const std::unique_ptr<GrpcStream> stream = std::move(found->second);
      c.streams_.erase(found);
      if (stream->deadline_timer) c.loop_.Cancel(stream->deadline_timer);
      stream->OnClose();
    });
  }

  // After an invalid frame, nghttp2 resets the stream or ends the connection.
  static int OnInvalidFrame(nghttp2_session*, const nghttp2_frame*, int, void* user) {
    GrpcConnection& c = ConnectionOf(user);
    if (!c.guard_.resets.Take(c.now_)) c.Flooded("too_many_errors");
    return 0;
  }

  static int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    const uint8_t type = frame->hd.type;
    if (type != NGHTTP2_HEADERS && type != NGHTTP2_DATA) return 0;
    ConnectionOf(user).guard_.pings.Refill();
    // If the answer is complete but the request is not, this reset tells the client to stop sending.
    const int32_t id = frame->hd.stream_id;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) &&
        nghttp2_session_get_stream_remote_close(session, id) == 0)
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
    return 0;
  }

  // Returns how many bytes of a response can be sent. nghttp2 then calls OnSendData, which sends them without
  // a copy.
  static ssize_t OnReadData(nghttp2_session*, int32_t id, uint8_t*, size_t limit, uint32_t* flags,
                            nghttp2_data_source*, void* user) {
    GrpcConnection& c = ConnectionOf(user);
    GrpcStream* stream = c.Find(id);
    if (!stream) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const size_t size = std::min(limit, stream->pending());
    const bool last = size == stream->pending() && stream->ended();
    if (size == 0 && !last) {
      stream->waiting = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (last) {
      *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      if (Protect([&] { c.SubmitTrailers(*stream); }) != 0) return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return static_cast<ssize_t>(size);
  }

  static int OnSendData(nghttp2_session*, nghttp2_frame* frame, const uint8_t* header, size_t size,
                        nghttp2_data_source*, void* user) {
    GrpcConnection& c = ConnectionOf(user);
    GrpcStream* stream = c.Find(frame->hd.stream_id);
    if (!stream) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (c.out_.size() >= kFillBytes) return NGHTTP2_ERR_WOULDBLOCK;
    return Protect([&] {
      c.out_.Append(header, 9);
      stream->Emit(size, c.out_);
      c.data_out_ += size;
    });
  }

  // Makes frames as large as the client allows.
  static ssize_t OnReadLength(nghttp2_session*, uint8_t, int32_t, int32_t connection_window,
                              int32_t stream_window, uint32_t max_frame, void*) {
    return std::min(
        {connection_window, stream_window, static_cast<int32_t>(std::min<uint32_t>(max_frame, 1 << 20))});
  }

  static void Set(nghttp2_session_callbacks* callbacks) {
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, OnBeginFrame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnDataChunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnStreamClose);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, OnInvalidFrame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, OnFrameSent);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, OnSendData);
    nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, OnReadLength);
  }
};

namespace {

bool Configure(nghttp2_session* session) {
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMaxStreams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kMaxFrame},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaderList},
  };
  return nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings)) == 0 &&
         nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kConnectionWindow) == 0;
}

}  // namespace

SessionPointer MakeSession(GrpcConnection& connection) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* option = nullptr;
  nghttp2_session* session = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) == 0 && nghttp2_option_new(&option) == 0) {
    SessionCallbacks::Set(callbacks);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    // Clients of gRPC send metadata with spaces at its ends.
    nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1);
    nghttp2_session_server_new2(&session, callbacks, &connection, option);
  }
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  SessionPointer result(session);
  if (session && !Configure(session)) result.reset();
  return result;
}

// The functions that streams call to send headers, trailers and errors.
namespace {

// A header whose name and value are literals, which nghttp2 need not copy.
nghttp2_nv Literal(std::string_view name, std::string_view value) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

nghttp2_nv Text(std::string_view name, std::string_view value) {
  nghttp2_nv header = Literal(name, value);
  header.flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_INDEX;
  return header;
}

std::string_view CodeText(GrpcCode code) {
  constexpr std::string_view kTexts[] = {"0", "1",  "2",  "3",  "4",  "5",  "6",  "7", "8",
                                         "9", "10", "11", "12", "13", "14", "15", "16"};
  return kTexts[static_cast<size_t>(code)];
}

// Truncates a text between two characters, because clients limit the size of trailers.
std::string_view Shorten(std::string_view text) {
  constexpr size_t kMaxBytes = 2048;
  if (text.size() <= kMaxBytes) return text;
  size_t size = kMaxBytes;
  while (size > 0 && (static_cast<uint8_t>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

// grpc-status and the headers that belong to it. The object must live until they are submitted, because it
// owns the values.
struct StatusHeaders {
  explicit StatusHeaders(const GrpcStatus& status)
      : message(PercentEncode(Shorten(status.message))), retry(StrCat(status.retry_ms)) {
    nv[count++] = Literal("grpc-status", CodeText(status.code));
    if (!message.empty()) nv[count++] = Text("grpc-message", message);
    if (status.retry_ms > 0) nv[count++] = Text("grpc-retry-pushback-ms", retry);
    if (status.code == GrpcCode::kUnimplemented)
      nv[count++] = Literal("grpc-accept-encoding", "identity,deflate,gzip");
  }
  std::string message, retry;
  nghttp2_nv nv[4];
  size_t count = 0;
};

}  // namespace

void GrpcConnection::SubmitHttpError(int32_t id, int code) {
  const std::string status = StrCat(code);
  const nghttp2_nv headers[] = {Text(":status", status)};
  nghttp2_submit_response(session_.get(), id, headers, std::size(headers), nullptr);
}

void GrpcConnection::SubmitHeaders(GrpcStream& stream, bool compressed) {
  const nghttp2_nv headers[] = {Literal(":status", "200"), Literal("content-type", "application/grpc"),
                                Literal("grpc-encoding", "gzip")};
  nghttp2_data_provider data{};
  data.read_callback = SessionCallbacks::OnReadData;
  nghttp2_submit_response(session_.get(), stream.id(), headers, std::size(headers) - (compressed ? 0 : 1),
                          &data);
}

void GrpcConnection::SubmitStatus(GrpcStream& stream) {
  const StatusHeaders trailers(stream.status());
  nghttp2_nv headers[6] = {Literal(":status", "200"), Literal("content-type", "application/grpc")};
  std::copy_n(trailers.nv, trailers.count, headers + 2);
  nghttp2_submit_response(session_.get(), stream.id(), headers, trailers.count + 2, nullptr);
}

void GrpcConnection::SubmitTrailers(GrpcStream& stream) {
  const StatusHeaders trailers(stream.status());
  nghttp2_submit_trailer(session_.get(), stream.id(), trailers.nv, trailers.count);
}

void GrpcConnection::ResumeSending(GrpcStream& stream) {
  stream.waiting = false;
  nghttp2_session_resume_data(session_.get(), stream.id());
}

void GrpcConnection::Consume(int32_t stream, size_t bytes) {
  nghttp2_session_consume_stream(session_.get(), stream, bytes);
}

void GrpcConnection::ConsumeConnection(size_t bytes) {
  nghttp2_session_consume_connection(session_.get(), bytes);
}

}  // namespace tern::server
