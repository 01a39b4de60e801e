// For tests of the gRPC front end: models that echo, and a client that speaks HTTP/2 over a blocking socket.
#pragma once
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "inference.pb.h"
#include "server/core/eventually.h"
#include "server/grpc/grpc_server.h"
#include "server/grpc/message_compression.h"
#include "server/grpc/rpc.h"
#include "server/net/test_support.h"

namespace tern::server {

// Returns its inputs as outputs. INPUT0 becomes OUTPUT0.
class EchoModel : public ModelVersion {
 public:
  enum class Mode { kInline, kThread, kHold, kRepeat, kFail };

  EchoModel(std::string name, Mode mode, std::string version = "1")
      : ModelVersion(MakeConfig(std::move(name), mode), std::move(version)), mode_(mode) {}
  ~EchoModel() override { Join(); }
  // A call owns its model, so one of these threads may be the last owner. A thread cannot join itself.
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  static ModelConfig MakeConfig(std::string name, Mode mode) {
    ModelConfig config;
    config.name = std::move(name);
    config.backend = "echo";
    config.max_batch_size = 8;
    config.decoupled = mode == Mode::kRepeat;
    config.proto =
        "\x0a\x04"
        "echo";
    TensorConfig& input = config.inputs.emplace_back();
    input.name = "INPUT0";
    input.dtype = DType::kF32;
    input.dims = {4};
    config.outputs.push_back(input);
    config.outputs[0].name = "OUTPUT0";
    return config;
  }

  void Submit(std::shared_ptr<Call> call) override {
    const std::lock_guard lock(mutex_);
    submit_thread = std::this_thread::get_id();
    last = call->request;
    switch (mode_) {
      case Mode::kInline:
        return call->Respond(Echo(*call));
      case Mode::kThread:
        threads_.emplace_back([call] { call->Respond(Echo(*call)); });
        return;
      case Mode::kHold:
        call->OnCancel([call = call.get()] { call->Respond(Failure(Code::kCancelled, "cancelled")); });
        held.push_back(std::move(call));
        return;
      case Mode::kRepeat:
        return Repeat(*call);
      case Mode::kFail:
        return call->Respond(Failure(Code::kUnavailable, "Exceeds maximum queue size"));
    }
  }
  size_t MemoryBytes() const override { return 4096; }
  size_t Pending() const override { return 0; }

  std::vector<std::shared_ptr<Call>> Held() {
    const std::lock_guard lock(mutex_);
    return held;
  }

  // Calls own their model, so a model that owns calls must drop them. Otherwise neither is freed.
  void Release() {
    std::vector<std::shared_ptr<Call>> released;
    const std::lock_guard lock(mutex_);
    released.swap(held);
  }

  static Response Failure(Code code, std::string message) {
    Response response;
    response.status = Status(code, std::move(message));
    response.retry_after = std::chrono::milliseconds(code == Code::kUnavailable ? 70 : 0);
    return response;
  }
  static Response Echo(const Call& call) {
    Response response;
    for (const WireTensor& input : call.request.inputs) {
      WireTensor output = input;
      if (output.name.starts_with("INPUT")) output.name.replace(0, 5, "OUTPUT");
      response.outputs.push_back(std::move(output));
    }
    return response;
  }
  static void Repeat(Call& call) {
    for (int i = 0; i < 3; ++i) {
      Response response = Echo(call);
      response.final = false;
      response.parameters.emplace_back("index", int64_t{i});
      call.Respond(std::move(response));
    }
    call.Respond({});
  }

  Request last;
  std::atomic<std::thread::id> submit_thread;  // of the last Submit

 private:
  const Mode mode_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Call>> held;
  std::vector<std::thread> threads_;
};

inline std::string Frame(const std::string& message, bool compressed = false) {
  const auto size = static_cast<uint32_t>(message.size());
  const char prefix[5] = {static_cast<char>(compressed), static_cast<char>(size >> 24),
                          static_cast<char>(size >> 16), static_cast<char>(size >> 8),
                          static_cast<char>(size)};
  return std::string(prefix, 5) + message;
}

// Compresses a message with gzip and adds the prefix of gRPC.
inline std::string Zipped(const std::string& message) {
  OutMessage out = MakeMessage(message);
  CompressMessage(out, 1);
  std::string all;
  for (size_t i = 0; i < out.part_count(); ++i) all += out.Part(i);
  return all;
}

// A ModelInferRequest with one FP32 input of n elements.
inline inference::ModelInferRequest InferRequest(const std::string& model, size_t n = 4, float first = 0) {
  inference::ModelInferRequest request;
  request.set_model_name(model);
  request.set_id("42");
  auto& input = *request.add_inputs();
  input.set_name("INPUT0");
  input.set_datatype("FP32");
  input.add_shape(static_cast<int64_t>(n));
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = first + static_cast<float>(i);
  request.add_raw_input_contents(values.data(), n * sizeof(float));
  return request;
}

// One stream: what the server sent, and what is still to be sent to it.
struct TestStream {
  std::map<std::string, std::string> headers;  // and trailers
  std::string body;
  bool closed = false;
  bool ended = false;  // END_STREAM
  uint32_t error = 0;
  std::string to_send;
  size_t sent = 0;
  bool end_after = false, deferred = false;
  size_t returned = 0;  // bytes of the body that were returned to the windows

  int status() const { return headers.count("grpc-status") ? std::stoi(headers.at("grpc-status")) : -1; }
  std::string message() const { return headers.count("grpc-message") ? headers.at("grpc-message") : ""; }
  // Returns the complete messages of the body.
  std::vector<std::string> Messages() const {
    std::vector<std::string> messages;
    for (size_t at = 0; at + 5 <= body.size();) {
      size_t size = 0;
      for (size_t i = 1; i < 5; ++i) size = size << 8 | static_cast<uint8_t>(body[at + i]);
      if (at + 5 + size > body.size()) break;
      messages.push_back(body.substr(at + 5, size));
      at += 5 + size;
    }
    return messages;
  }
  template <class Message> Message Parse(size_t i = 0) const {
    Message message;
    const auto messages = Messages();
    EXPECT_LT(i, messages.size());
    if (i < messages.size()) {
      EXPECT_TRUE(message.ParseFromString(messages[i]));
    }
    return message;
  }
};

using Headers = std::vector<std::pair<std::string, std::string>>;

class Http2Client {
 public:
  // return_windows: open the windows again for data that was received, as a client that reads does.
  explicit Http2Client(int port, bool session = true, bool return_windows = true) : socket(port) {
    if (!session) return;
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, FrameSize);
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, !return_windows);
    nghttp2_session_client_new2(&session_, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20};
    nghttp2_submit_settings(session_, 0, &window, 1);
    nghttp2_session_set_local_window_size(session_, 0, 0, 1 << 24);
  }
  ~Http2Client() {
    if (session_) nghttp2_session_del(session_);
  }

  // Opens a stream. The body is sent with END_STREAM if `end` is set.
  int32_t Open(const std::string& path, const std::string& body, bool end = true, const Headers& more = {},
               const std::string& method = "POST", const std::string& type = "application/grpc") {
    Headers all = {{":method", method}, {":scheme", "http"}, {":path", path}, {":authority", "test"}};
    if (!type.empty()) all.emplace_back("content-type", type);
    all.emplace_back("te", "trailers");
    all.insert(all.end(), more.begin(), more.end());
    std::vector<nghttp2_nv> nv;
    for (auto& [name, value] : all)
      nv.push_back({reinterpret_cast<uint8_t*>(name.data()), reinterpret_cast<uint8_t*>(value.data()),
                    name.size(), value.size(), 0});
    nghttp2_data_provider data{};
    data.read_callback = OnRead;
    const int32_t id = nghttp2_submit_request(session_, nullptr, nv.data(), nv.size(), &data, nullptr);
    streams[id].to_send = body;
    streams[id].end_after = end;
    Flush();
    return id;
  }
  int32_t OpenInfer(const inference::ModelInferRequest& request, const Headers& more = {}) {
    return Open("/inference.GRPCInferenceService/ModelInfer", Frame(request.SerializeAsString()), true, more);
  }
  void Send(int32_t id, const std::string& bytes, bool end = false) {
    streams[id].to_send += bytes;
    streams[id].end_after = end;
    nghttp2_session_resume_data(session_, id);
    Flush();
  }
  void Ping() {
    nghttp2_submit_ping(session_, 0, nullptr);
    Flush();
  }
  void Reset(int32_t id) {
    nghttp2_submit_rst_stream(session_, 0, id, NGHTTP2_CANCEL);
    Flush();
  }
  void Flush() {
    const uint8_t* data = nullptr;
    for (ssize_t n = 0; (n = nghttp2_session_mem_send(session_, &data)) > 0;)
      socket.Send({reinterpret_cast<const char*>(data), static_cast<size_t>(n)});
  }
  // Opens the windows again for the received bytes. For a client that was constructed without return_windows.
  void ReturnWindows() {
    for (auto& [id, stream] : streams) {
      const size_t bytes = stream.body.size() - stream.returned;
      stream.returned += bytes;
      if (bytes) nghttp2_session_consume(session_, id, bytes);
    }
    Flush();
  }
  // Reads until done() is true, the server closes the connection, or no bytes arrive for 5 s. Returns done().
  template <class F> bool Until(F done) {
    while (!done()) {
      const std::string bytes = socket.Read();
      if (bytes.empty()) {
        closed = true;
        break;
      }
      received += bytes;
      nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      Flush();
    }
    return done();
  }
  TestStream& Finish(int32_t id) {
    Until([&] { return streams[id].closed; });
    return streams[id];
  }
  // A unary call, from the request to the status.
  TestStream& Call(const std::string& method, const std::string& message, const Headers& more = {}) {
    return Finish(Open("/inference.GRPCInferenceService/" + method, Frame(message), true, more));
  }

  TestClient socket;
  std::map<int32_t, TestStream> streams;
  std::string received, goaway_text;
  bool closed = false, goaway = false;
  uint32_t goaway_error = 0;
  int pings = 0;

 private:
  static Http2Client& Self(void* user) { return *static_cast<Http2Client*>(user); }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t, void* user) {
    Self(user).streams[frame->hd.stream_id].headers[{reinterpret_cast<const char*>(name), name_size}] = {
        reinterpret_cast<const char*>(value), value_size};
    return 0;
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size, void* user) {
    Self(user).streams[id].body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int OnClose(nghttp2_session*, int32_t id, uint32_t error, void* user) {
    Self(user).streams[id].closed = true;
    Self(user).streams[id].error = error;
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Client& self = Self(user);
    if (frame->hd.type == NGHTTP2_PING && !(frame->hd.flags & NGHTTP2_FLAG_ACK)) ++self.pings;
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
      self.streams[frame->hd.stream_id].ended = true;
    if (frame->hd.type != NGHTTP2_GOAWAY) return 0;
    self.goaway = true;
    self.goaway_error = frame->goaway.error_code;
    self.goaway_text.assign(reinterpret_cast<const char*>(frame->goaway.opaque_data),
                            frame->goaway.opaque_data_len);
    return 0;
  }
  static ssize_t FrameSize(nghttp2_session*, uint8_t, int32_t, int32_t connection_window,
                           int32_t stream_window, uint32_t max_frame, void*) {
    return std::min({connection_window, stream_window, static_cast<int32_t>(max_frame)});
  }
  static ssize_t OnRead(nghttp2_session*, int32_t id, uint8_t* out, size_t limit, uint32_t* flags,
                        nghttp2_data_source*, void* user) {
    TestStream& stream = Self(user).streams[id];
    const size_t size = std::min(limit, stream.to_send.size() - stream.sent);
    if (size) memcpy(out, stream.to_send.data() + stream.sent, size);
    stream.sent += size;
    if (stream.end_after && stream.sent == stream.to_send.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return size || stream.end_after ? static_cast<ssize_t>(size) : ssize_t{NGHTTP2_ERR_DEFERRED};
  }

  nghttp2_session* session_ = nullptr;
};

// A server with echo models. "echo" answers at once. "thread" answers from another thread. "hold" answers
// when the test tells it to. "repeat" answers three times. "fail" answers with an error.
class GrpcServerTest : public ::testing::Test, public Observability {
 protected:
  void SetUp() override { StartServer({}); }
  void TearDown() override {
    server.reset();
    loops.reset();
    for (auto& [name, model] : models) {
      model->Join();
      model->Release();
    }
  }
  void StartServer(GrpcOptions options, int loop_count = 1) {
    server.reset();
    using Mode = EchoModel::Mode;
    const std::pair<const char*, Mode> kModels[] = {{"echo", Mode::kInline},
                                                    {"thread", Mode::kThread},
                                                    {"hold", Mode::kHold},
                                                    {"repeat", Mode::kRepeat},
                                                    {"fail", Mode::kFail}};
    for (const auto& [name, mode] : kModels) {
      if (models[name]) models[name]->Release();
      models[name] = std::make_shared<EchoModel>(name, mode);
      registry.Publish(name, {models[name]});
    }
    context.version = "1.2.3";
    context.models = &registry;
    context.observability = this;
    context.ready = true;
    if (!loops) loops = std::move(*Loops::Start(loop_count));
    options.listen.address = "127.0.0.1";
    auto started = GrpcServer::Start(*loops, context, options);
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    server = std::move(*started);
  }

  bool wants_access_log() const override { return true; }
  void OnRequest(const AccessRecord& record) override {
    const std::lock_guard lock(mutex);
    records.push_back({std::string(record.target), std::string(record.model), std::string(record.request_id),
                       std::string(record.error), record.status, record.received, record.sent,
                       record.trace ? record.trace->trace_id : "", record.times != nullptr});
  }
  std::string PrometheusText() override { return {}; }

  struct Recorded {
    std::string target, model, id, error;
    int status;
    uint64_t received, sent;
    std::string trace;
    bool has_times;
  };
  std::mutex mutex;
  std::vector<Recorded> records;
  Registry registry;
  ServerContext context;
  std::map<std::string, std::shared_ptr<EchoModel>> models;
  std::unique_ptr<Loops> loops;
  std::unique_ptr<GrpcServer> server;
};

}  // namespace tern::server
