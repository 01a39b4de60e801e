#include "server/isolation/child_model.h"

#include <condition_variable>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>

namespace tern::server {
namespace {

constexpr std::chrono::milliseconds kStatisticsInterval{500};

std::chrono::nanoseconds ProcessCpu() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

// One instance, with the thread that serves its socket.
class ChildModel::Instance {
 public:
  Instance(std::unique_ptr<BackendInstance> backend, const ModelConfig& config, UniqueFd socket,
           UniqueFd inputs, UniqueFd outputs)
      : backend_(std::move(backend)),
        config_(config),
        channel_(std::move(socket)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        thread_([this] { Loop(); }) {}
  ~Instance() {
    channel_.Shutdown();
    thread_.join();
    if (calls_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        stop_ = true;
      }
      changed_.notify_all();
      calls_.join();
    }
  }

  Channel& channel() { return channel_; }

  // Runs a decoupled request on the thread for such requests, one after the other.
  void PostCall(std::function<void(BackendInstance&)> run) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(run));
    if (!calls_.joinable()) calls_ = std::thread([this] { RunCalls(); });
    changed_.notify_all();
  }

 private:
  void Loop() {
    for (;;) {
      auto message = channel_.Receive();
      if (!message.ok()) return;
      if (message->type == MessageType::kEndSequence) {
        (void)Guard([&]() -> Status {
          backend_->EndSequence(message->payload);
          return {};
        }).ok();
        continue;
      }
      if (message->type != MessageType::kRun) return;
      const auto cpu = ProcessCpu();
      RanMessage ran;
      Status status = Guard([&] { return Run(message->payload, ran); });
      if (!status.ok()) ran.outputs.clear();
      ran.cpu_ns = static_cast<uint64_t>((ProcessCpu() - cpu).count());
      if (!channel_.Send(MessageType::kRan, message->id, Encode(status, ran)).ok()) return;
    }
  }

  void RunCalls() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
      if (stop_) return;
      const auto run = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      run(*backend_);
      lock.lock();
    }
  }

  Status Run(std::string_view payload, RanMessage& ran) {
    RunMessage message;
    TERN_TRY(Parse(payload, message));
    if (message.arena > mapping_.size()) {
      TERN_ASSIGN(mapping_, Mapping::Map(inputs_.get(), 0, message.arena));
    }
    TERN_TRY(outputs_.Reset());
    Batch batch;
    std::vector<const Request*> requests;
    for (ArenaTensor& input : message.inputs) {
      input.tensor.bytes = Buffer::Borrow(mapping_.data() + input.offset, input.bytes, nullptr);
      batch.inputs.push_back(std::move(input.tensor));
    }
    batch.outputs = std::move(message.outputs);
    batch.threads = message.threads;
    batch.config = &config_;
    batch.memory = &outputs_;
    if (mapping_.data()) batch.stop.cancel = reinterpret_cast<const std::atomic<bool>*>(mapping_.data());
    if (message.has_requests) {
      for (size_t i = 0; i < message.requests.size(); ++i)
        requests.push_back(message.present[i] ? &message.requests[i] : nullptr);
      batch.requests = &requests;
      batch.items = &message.items;
    }
    TERN_ASSIGN(std::vector<WireTensor> outputs, backend_->Run(batch));
    ran.again = std::move(batch.again);
    for (WireTensor& output : outputs) TERN_TRY(Place(std::move(output), ran));
    return {};
  }

  // Finds the output in the arena, or copies it there.
  Status Place(WireTensor output, RanMessage& ran) {
    const size_t bytes = output.bytes.size();
    int64_t offset = bytes == 0 ? 0 : outputs_.OffsetOf(output.bytes.data());
    if (offset < 0) {
      const Buffer copy = outputs_.Allocate(bytes);
      if (!copy.defined()) return ResourceExhausted("no shared memory for output '", output.name, "'");
      std::memcpy(copy.data(), output.bytes.data(), bytes);
      offset = outputs_.OffsetOf(copy.data());
    }
    output.bytes = Buffer();
    ran.outputs.push_back({std::move(output), static_cast<uint64_t>(offset), bytes});
    return {};
  }

  const std::unique_ptr<BackendInstance> backend_;
  const ModelConfig& config_;
  Channel channel_;
  UniqueFd inputs_;
  Mapping mapping_;  // of inputs_; begins with the flag that cancels the execution
  ArenaMemory outputs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void(BackendInstance&)>> waiting_;
  bool stop_ = false;
  std::thread calls_;
  std::thread thread_;
};

// A decoupled request, whose responses go to the server.
class ChildModel::ServerCall : public Call {
 public:
  ServerCall(Channel& server, uint64_t id) : server_(server), id_(id) {}
  ~ServerCall() override {
    if (finished()) return;
    Response response;
    response.status = Status(Code::kInternal, "the model ended without a final response");
    Send(response);
  }

 private:
  void OnResponse(Response response) override { Send(response); }
  void Send(const Response& response) {
    Status status = server_.Send(MessageType::kResponse, id_, Encode(response));
    if (status.ok() || status.code() != Code::kResourceExhausted) return;
    Response failed;
    failed.status = std::move(status);
    (void)server_.Send(MessageType::kResponse, id_, Encode(failed)).ok();
  }

  Channel& server_;
  const uint64_t id_;
};

ChildModel::ChildModel(Channel& server, std::unique_ptr<BackendModel> model, ModelConfig config)
    : server_(server), model_(std::move(model)), config_(std::move(config)) {}

ChildModel::~ChildModel() {
  {
    const std::lock_guard lock(calls_mutex_);
    for (const auto& [id, weak] : calls_)
      if (const auto call = weak.lock()) call->Cancel();
  }
  instances_.clear();
}

Status ChildModel::Serve() {
  for (;;) {
    auto message = server_.Receive(std::chrono::steady_clock::now() + kStatisticsInterval);
    if (message.ok()) {
      TERN_TRY(Handle(std::move(*message)));
    } else if (message.status().code() != Code::kCancelled) {
      return message.TakeStatus();
    }
    if (std::chrono::steady_clock::now() - told_ >= kStatisticsInterval) SendStatistics();
  }
}

Status ChildModel::Handle(Message message) {
  switch (message.type) {
    case MessageType::kOpenInstance:
      return OpenInstance(std::move(message));
    case MessageType::kCall:
      return StartCall(message);
    case MessageType::kCancel:
      CancelCall(message.id);
      return {};
    default:
      return Status(Code::kInternal, "the server sent a wrong message");
  }
}

Status ChildModel::OpenInstance(Message message) {
  if (message.fds.size() != 3) return Status(Code::kInternal, "the server sent a wrong message");
  auto backend = Guard([&] { return model_->CreateInstance(); });
  if (!backend.ok()) {
    Channel answer(std::move(message.fds[0]));
    return answer.Send(MessageType::kOpened, message.id, Encode(backend.status()));
  }
  auto& instance = instances_[message.id];
  instance = std::make_unique<Instance>(std::move(*backend), config_, std::move(message.fds[0]),
                                        std::move(message.fds[1]), std::move(message.fds[2]));
  return instance->channel().Send(MessageType::kOpened, message.id, Encode(Status()));
}

Status ChildModel::StartCall(const Message& message) {
  CallMessage parsed;
  TERN_TRY(Parse(message.payload, parsed));
  const auto found = instances_.find(parsed.instance);
  if (found == instances_.end()) return Status(Code::kInternal, "the server named an unknown instance");
  auto call = std::make_shared<ServerCall>(server_, message.id);
  call->request = std::move(parsed.request);
  {
    const std::lock_guard lock(calls_mutex_);
    std::erase_if(calls_, [](const auto& entry) { return entry.second.expired(); });
    calls_[message.id] = call;
  }
  found->second->PostCall([this, id = message.id, call = std::move(call)](BackendInstance& backend) mutable {
    const Status status = Guard([&]() -> Status {
      backend.RunCall(call);
      return {};
    });
    if (!status.ok()) {
      Response response;
      response.status = status;
      call->Respond(std::move(response));
    }
    call.reset();
    (void)server_.Send(MessageType::kReturned, id, {}).ok();
  });
  return {};
}

void ChildModel::CancelCall(uint64_t id) {
  std::shared_ptr<Call> call;
  {
    const std::lock_guard lock(calls_mutex_);
    const auto found = calls_.find(id);
    if (found != calls_.end()) call = found->second.lock();
  }
  if (call) call->Cancel();
}

void ChildModel::SendStatistics() {
  told_ = std::chrono::steady_clock::now();
  StatisticsMessage message;
  message.memory = model_->MemoryBytes();
  message.values = model_->Metrics();
  std::string payload = Encode(message);
  if (payload == sent_ || !server_.Send(MessageType::kStatistics, 0, payload, {}, false).ok()) return;
  sent_ = std::move(payload);
}

}  // namespace tern::server
