// For tests: an HTTP server with models and controls that answer in memory.
#pragma once
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/core/eventually.h"
#include "server/core/test_support.h"
#include "server/http/http_server.h"
#include "server/net/test_support.h"

namespace tern::server {

// Returns its inputs as outputs: IN0 as OUT0, IN1 as OUT1. `mode` selects when and how it answers.
class EchoVersion : public ModelVersion {
 public:
  enum class Mode { kInline, kThread, kHold, kFail, kRefuse, kRepeat };
  EchoVersion(ModelConfig config, std::string version, Mode mode)
      : ModelVersion(std::move(config), std::move(version)), mode_(mode) {}
  ~EchoVersion() override { Join(); }
  // A call owns its version, so one of these threads may be the last owner. A thread cannot join itself.
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  void Submit(std::shared_ptr<Call> call) override {
    ++submitted;
    submit_thread = std::this_thread::get_id();
    if (mode_ == Mode::kThread) {
      const std::lock_guard lock(mutex_);
      threads_.emplace_back([this, call] { Answer(*call); });
    } else if (mode_ == Mode::kHold) {
      call->OnCancel([this, weak = std::weak_ptr<Call>(call)] {
        ++cancelled;
        Response response;
        response.status = Status(Code::kCancelled, "the request was cancelled");
        if (auto c = weak.lock()) c->Respond(std::move(response));
      });
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(call));
    } else {
      Answer(*call);
    }
  }
  void Release() {
    std::vector<std::shared_ptr<Call>> calls;
    {
      const std::lock_guard lock(mutex_);
      calls.swap(held_);
    }
    // Answers in reverse order. The server must still send the responses in the order of the requests.
    for (size_t i = calls.size(); i-- > 0;) Answer(*calls[i]);
  }
  size_t MemoryBytes() const override { return 1234; }
  size_t Pending() const override { return 0; }

  std::atomic<int> submitted{0}, cancelled{0};
  std::atomic<std::thread::id> submit_thread;  // of the last Submit
  TraceContext last_trace;

 private:
  void Answer(Call& call) {
    {
      const std::lock_guard lock(trace_mutex_);
      last_trace = call.request.trace;
    }
    Response response;
    if (mode_ == Mode::kFail) response.status = Status(Code::kInternal, "the model \"failed\"");
    if (mode_ == Mode::kRefuse) {
      response.status = ResourceExhausted("too much load");
      response.retry_after = std::chrono::milliseconds(1500);
    }
    if (response.status.ok()) Echo(call, response);
    if (mode_ == Mode::kRepeat) {
      response.final = false;
      call.Respond(response);
      call.Respond(response);
      response = Response();
    }
    call.Respond(std::move(response));
  }
  static void Echo(Call& call, Response& response) {
    for (const WireTensor& input : call.request.inputs) {
      WireTensor output = input;
      if (output.name.starts_with("IN")) output.name = "OUT" + output.name.substr(2);
      bool wanted = call.request.outputs.empty();
      for (const RequestedOutput& requested : call.request.outputs) wanted |= requested.name == output.name;
      if (wanted) response.outputs.push_back(std::move(output));
    }
    response.parameters = call.request.parameters;
  }
  const Mode mode_;
  std::mutex mutex_, trace_mutex_;
  std::vector<std::shared_ptr<Call>> held_;
  std::vector<std::thread> threads_;
};

struct FakeRepository : RepositoryControl {
  std::vector<std::string> log;
  std::mutex mutex;
  std::vector<IndexEntry> Index(bool ready_only) override {
    std::vector<IndexEntry> all{{"echo", "1", ModelState::kReady, ""}};
    if (!ready_only) all.push_back({"broken", "", ModelState::kUnavailable, "no file"});
    return all;
  }
  Status Load(const std::string& model, const LoadOptions& options) override {
    const std::lock_guard lock(mutex);
    log.push_back("load " + model + " " + options.config);
    for (const auto& [name, content] : options.files) log.back() += " " + name + "=" + content;
    return model == "no" ? Unavailable("explicit model load / unload is not allowed if polling is enabled")
                         : Status();
  }
  Status Unload(const std::string& model, bool dependents) override {
    const std::lock_guard lock(mutex);
    log.push_back("unload " + model + (dependents ? " all" : ""));
    return {};
  }
};

struct FakeMemory : SharedMemoryControl {
  std::map<std::string, SharedMemoryRegion> regions;
  Buffer bytes = Buffer::Allocate(256);
  Status Register(const std::string& name, const std::string& key, uint64_t offset, uint64_t size) override {
    if (regions.contains(name))
      return Status(Code::kAlreadyExists, StrCat("shared memory region '", name, "' already in manager"));
    regions[name] = {name, key, offset, size};
    return {};
  }
  Status Unregister(const std::string& name) override {
    if (name.empty()) regions.clear();
    regions.erase(name);
    return {};
  }
  Result<std::vector<SharedMemoryRegion>> List(const std::string& name) override {
    std::vector<SharedMemoryRegion> all;
    if (!name.empty() && !regions.contains(name))
      return NotFound("Unable to find system shared memory region: '", name, "'");
    for (const auto& [key, region] : regions)
      if (name.empty() || name == key) all.push_back(region);
    return all;
  }
  Result<std::shared_ptr<const SharedMemoryRange>> Find(const std::string& name, uint64_t offset,
                                                        uint64_t size) override {
    if (!regions.contains(name)) return NotFound("Unable to find shared memory region: '", name, "'");
    if (offset > bytes.size() || size > bytes.size() - offset)
      return InvalidArgument("Invalid offset + byte size for shared memory region: '", name, "'");
    return std::shared_ptr<const SharedMemoryRange>(std::make_shared<BufferRange>(bytes.Slice(offset, size)));
  }
};

struct FakeSettings : SettingsControl {
  Settings trace{{"trace_level", {"OFF"}}, {"trace_rate", {"1000"}}};
  std::map<std::string, ParameterValue> log{{"log_info", true}, {"log_verbose_level", int64_t{0}}};
  Result<Settings> Trace(const std::string&) override { return trace; }
  Result<Settings> SetTrace(const std::string&, const Settings& changes) override {
    for (const auto& [name, values] : changes) trace[name] = values;
    return trace;
  }
  std::map<std::string, ParameterValue> Log() override { return log; }
  Status SetLog(const std::map<std::string, ParameterValue>& changes) override {
    for (const auto& [name, value] : changes) log[name] = value;
    return {};
  }
};

struct FakeObserver : Observability {
  std::mutex mutex;
  std::vector<std::string> records;
  bool wants_access_log() const override { return true; }
  void OnRequest(const AccessRecord& r) override {
    const std::lock_guard lock(mutex);
    records.push_back(StrCat(r.method, " ", r.target, " ", r.status, " ", r.model, " ", r.request_id, " ",
                             r.received, " ", r.trace ? r.trace->trace_id : ""));
  }
  std::string PrometheusText() override { return "# TYPE x counter\nx 1\n"; }
};

struct TestReply {
  int status = 0;
  std::string head, body;
  std::string Field(const std::string& name) const {
    const size_t at = head.find("\r\n" + name + ": ");
    if (at == head.npos) return "";
    const size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

// Reads one response with Content-Length or chunks. Bytes after the response stay in `text`.
template <class Client> TestReply ReadReply(Client& client, std::string& text) {
  TestReply reply;
  size_t end = 0;
  while ((end = text.find("\r\n\r\n")) == text.npos) {
    const std::string more = client.Read();
    if (more.empty()) return reply;
    text += more;
  }
  reply.head = text.substr(0, end + 2);
  text.erase(0, end + 4);
  reply.status = std::stoi(reply.head.substr(9, 3));
  if (reply.status == 204 || reply.status == 100) return reply;
  if (!reply.Field("Transfer-Encoding").empty()) {
    while (text.find("0\r\n\r\n") == text.npos) {
      const std::string more = client.Read();
      if (more.empty()) break;
      text += more;
    }
    reply.body = std::exchange(text, "");
    return reply;
  }
  const size_t size = std::stoull("0" + reply.Field("Content-Length"));
  while (text.size() < size) {
    const std::string more = client.Read();
    if (more.empty()) break;
    text += more;
  }
  reply.body = text.substr(0, size);
  text.erase(0, size);
  return reply;
}

class HttpTest : public testing::Test {
 protected:
  using Mode = EchoVersion::Mode;

  HttpTest() {
    context.version = "1.0";
    context.models = &registry;
    context.repository = &repository;
    context.settings = &settings;
    context.observability = &observer;
    context.ready = true;
    options.listen.address = "127.0.0.1";
  }
  ~HttpTest() override {
    server.reset();
    loops.reset();
    for (const auto& version : versions) version->Join();
  }
  static ModelConfig Config(const std::string& name) {
    ModelConfig config;
    config.name = name;
    config.backend = "fake";
    config.max_batch_size = 8;
    config.inputs = {{"IN0", DType::kF32, {-1}, {}, false, false, {}},
                     {"IN1", DType::kI32, {2}, {}, true, false, {}}};
    config.outputs = {{"OUT0", DType::kF32, {-1}, {}, false, false, {}}};
    config.json = "{\"name\":\"" + name + "\"}";
    return config;
  }
  std::shared_ptr<EchoVersion> Add(ModelConfig config, EchoVersion::Mode mode) {
    const std::string name = config.name;
    auto version = std::make_shared<EchoVersion>(std::move(config), "1", mode);
    registry.Publish(name, {version});
    versions.push_back(version);
    return version;
  }
  void Start() {
    if (!echo) echo = Add(Config("echo"), EchoVersion::Mode::kInline);
    auto started = HttpServer::Start(*loops, context, options);
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    server = std::move(*started);
  }
  TestReply Send(const std::string& request) {
    TestClient client(server->port());
    client.Send(request);
    std::string text;
    return ReadReply(client, text);
  }
  static std::string Get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"; }
  static std::string Post(const std::string& path, const std::string& body, const std::string& fields = "") {
    return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + fields +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  TestReply Infer(const std::string& body, const std::string& fields = "",
                  const std::string& model = "echo") {
    return Send(Post("/v2/models/" + model + "/infer", body, fields));
  }
  // The header of a binary request, whose body is JSON followed by bytes.
  static std::string Header(const std::string& json) {
    return "Inference-Header-Content-Length: " + std::to_string(json.size()) + "\r\n";
  }

  Registry registry;
  FakeRepository repository;
  FakeSettings settings;
  FakeObserver observer;
  FakeMemory memory;
  ServerContext context;
  HttpOptions options;
  std::shared_ptr<EchoVersion> echo;
  std::vector<std::shared_ptr<EchoVersion>> versions;
  std::unique_ptr<Loops> loops = std::move(*Loops::Start(2));
  std::unique_ptr<HttpServer> server;
};

inline constexpr char kSmall[] =
    R"({"id":"7","inputs":[{"name":"IN0","shape":[1,2],"datatype":"FP32","data":[1.5,-2]}]})";
inline constexpr char kSmallReply[] =
    R"({"id":"7","model_name":"echo","model_version":"1","outputs":[{"name":"OUT0","datatype":"FP32","shape":[1,2],"data":[1.5,-2.0]}]})";

}  // namespace tern::server
