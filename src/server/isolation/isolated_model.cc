#include "server/isolation/isolated_model.h"

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "server/core/buffer_pool.h"
#include "server/isolation/keeper.h"

namespace tern::server {
namespace {

constexpr uint64_t kFlagBytes = 64;  // at the start of the inputs: whether the execution is cancelled
constexpr std::chrono::milliseconds kCancelPoll{5};

uint64_t Aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

class IsolatedInstance : public BackendInstance {
 public:
  IsolatedInstance(std::shared_ptr<Keeper> keeper, uint64_t number)
      : keeper_(std::move(keeper)), number_(number) {}

  Result<std::vector<WireTensor>> Run(Batch& batch) override {
    std::shared_ptr<InstanceLink> link = keeper_->Link(number_);
    if (!link) link = keeper_->AwaitLink(number_, 0);
    Status sent = link ? Send(*link, batch) : keeper_->Down();
    if (link && sent.code() == Code::kUnavailable && !batch.lost) {
      // The process ended while it was idle, so it has not seen the batch. The next process gets the batch.
      keeper_->Suspect(link->epoch);
      link = keeper_->AwaitLink(number_, link->epoch);
      sent = link ? Send(*link, batch) : keeper_->Down();
    }
    if (!sent.ok()) {
      batch.lost |= sent.code() == Code::kUnavailable;
      return sent;
    }
    return Receive(*link, batch);
  }

  void RunCall(const std::shared_ptr<Call>& call) override { keeper_->RunCall(number_, call); }

  void EndSequence(const std::string& id) override {
    if (const auto link = keeper_->Link(number_))
      (void)link->channel->Send(MessageType::kEndSequence, 0, id).ok();
  }

 private:
  // Passes a batch to the process. Fails with kUnavailable if the process does not get it.
  Status Send(InstanceLink& link, Batch& batch) const {
    // The back end keeps something per sequence, and the batch was formed for an earlier process.
    if (batch.config && batch.config->sequence && batch.epoch != 0 && batch.epoch != link.epoch) {
      batch.lost = true;
      return keeper_->Lost();
    }
    RunMessage message = RunMessageOf(batch);
    TERN_TRY(CopyInputs(batch, link, message));
    return link.channel->Send(MessageType::kRun, ++link.runs, Encode(message));
  }

  Result<std::vector<WireTensor>> Receive(InstanceLink& link, Batch& batch) const {
    const auto begin = Clock::now();
    const auto limit = keeper_->options().execution_timeout;
    const auto deadline = limit.count() > 0 ? begin + limit : Clock::time_point::max();
    if (Await(link, batch, deadline)) return Finish(link, batch, Clock::now() - begin);
    keeper_->Kill(link.epoch, "timeout",
                  StrCat("an execution took longer than execution_timeout_ms, ", limit.count()));
    batch.timed_out = true;
    return Lose(link, batch,
                Unavailable("an execution of model '", keeper_->options().model,
                            "' took longer than execution_timeout_ms, ", limit.count()));
  }

  Status Lose(const InstanceLink& link, Batch& batch, Status status) const {
    batch.lost = true;
    keeper_->Suspect(link.epoch);
    return status;
  }

  static std::atomic<bool>& Flag(InstanceLink& link) {
    return *reinterpret_cast<std::atomic<bool>*>(link.inputs.data());
  }

  // Copies the inputs to the memory that the process sees. This is the only copy of the inputs.
  static Status CopyInputs(const Batch& batch, InstanceLink& link, RunMessage& message) {
    uint64_t bytes = kFlagBytes;
    for (const WireTensor& input : batch.inputs) bytes += Aligned(input.bytes.size());
    TERN_TRY(link.inputs.Grow(bytes));
    Flag(link).store(false, std::memory_order_relaxed);
    uint64_t offset = kFlagBytes;
    for (const WireTensor& input : batch.inputs) {
      if (input.bytes.size() > 0)
        std::memcpy(link.inputs.data() + offset, input.bytes.data(), input.bytes.size());
      message.inputs.push_back({{input.name, input.dtype, input.dims, {}}, offset, input.bytes.size()});
      offset += Aligned(input.bytes.size());
    }
    message.arena = link.inputs.size();
    return {};
  }

  // Waits for the answer, and passes a cancellation on. Returns false after the deadline.
  static bool Await(InstanceLink& link, const Batch& batch, Clock::time_point deadline) {
    bool told = !batch.stop.cancel;
    for (;;) {
      if (!told && batch.stop.cancel->load(std::memory_order_relaxed)) {
        Flag(link).store(true, std::memory_order_relaxed);
        told = true;
      }
      const auto next = told ? deadline : std::min(deadline, Clock::now() + kCancelPoll);
      if (link.channel->Wait(next)) return true;
      if (Clock::now() >= deadline) return false;
    }
  }

  Result<std::vector<WireTensor>> Finish(InstanceLink& link, Batch& batch,
                                         std::chrono::nanoseconds elapsed) const {
    auto message = link.channel->Receive(Clock::now() + std::chrono::seconds(1));
    if (!message.ok() && message.status().code() == Code::kUnavailable)
      return Lose(link, batch, keeper_->Lost());
    if (!message.ok()) return Broken(link, batch, message.status());
    if (message->type != MessageType::kRan || message->id != link.runs)
      return Broken(link, batch, Status(Code::kInternal, "it sent a wrong answer"));
    RanMessage ran;
    bool broken = false;
    Status status = Parse(message->payload, ran, broken);
    if (broken) return Broken(link, batch, status);
    // The process cannot claim more than its threads can have used.
    const auto most =
        static_cast<uint64_t>(elapsed.count()) * static_cast<uint64_t>(std::max(1, batch.threads));
    batch.cpu_elsewhere = std::chrono::nanoseconds(std::max<uint64_t>(1, std::min(ran.cpu_ns, most)));
    TERN_TRY(status);
    auto outputs = CopyOutputs(link, ran);
    if (!outputs.ok() && outputs.status().code() == Code::kInternal)
      return Broken(link, batch, outputs.status());
    link.inputs.Trim();
    link.outputs.Trim();
    batch.again = std::move(ran.again);
    return outputs;
  }

  // Copies the outputs, because the process could change them while the server reads them.
  static Result<std::vector<WireTensor>> CopyOutputs(InstanceLink& link, RanMessage& ran) {
    std::vector<WireTensor> outputs;
    for (ArenaTensor& output : ran.outputs) {
      uint64_t end = 0;
      if (__builtin_add_overflow(output.offset, output.bytes, &end))
        return Status(Code::kInternal, "it sent a wrong place of an output");
      TERN_TRY(link.outputs.MapAtLeast(end));
      Buffer copy = BufferPool::Shared().Allocate(output.bytes);
      if (!copy.defined()) return ResourceExhausted("no memory for output '", output.tensor.name, "'");
      if (output.bytes > 0) std::memcpy(copy.data(), link.outputs.data() + output.offset, output.bytes);
      output.tensor.bytes = std::move(copy);
      TERN_TRY(CheckStrings(output.tensor));
      outputs.push_back(std::move(output.tensor));
    }
    return outputs;
  }

  Status Broken(const InstanceLink& link, Batch& batch, const Status& status) const {
    keeper_->Kill(link.epoch, "protocol", status.message());
    return Lose(link, batch, keeper_->Lost());
  }

  const std::shared_ptr<Keeper> keeper_;
  const uint64_t number_;
};

class IsolatedModel : public BackendModel {
 public:
  explicit IsolatedModel(std::shared_ptr<Keeper> keeper) : keeper_(std::move(keeper)) {}

  // The process has compared the configuration with the model when it loaded it.
  Status Complete(ModelConfig& config) override {
    const LoadedMessage& loaded = keeper_->loaded();
    TERN_TRY(Merge(loaded.inputs, config.inputs));
    TERN_TRY(Merge(loaded.outputs, config.outputs));
    config.max_batch_size = loaded.max_batch_size;
    if (loaded.batching && !config.batching && !config.sequence) config.batching.emplace();
    config.decoupled |= loaded.decoupled;
    return {};
  }

  Result<std::unique_ptr<BackendInstance>> CreateInstance() override {
    const uint64_t number = instances_.fetch_add(1);
    TERN_TRY(keeper_->OpenInstance(number));
    return std::unique_ptr<BackendInstance>(new IsolatedInstance(keeper_, number));
  }

  size_t MemoryBytes() const override { return keeper_->Statistics().memory; }
  bool Parallel() const override { return keeper_->loaded().parallel; }
  bool RunsCalls() const override { return keeper_->loaded().runs_calls; }
  bool KeepsSequences() const override { return keeper_->loaded().keeps_sequences; }
  ModelProcess* process() const override { return keeper_.get(); }
  std::vector<std::pair<std::string, double>> Metrics() const override {
    return keeper_->Statistics().values;
  }

 private:
  static Status Merge(const std::vector<TensorConfig>& loaded, std::vector<TensorConfig>& configured) {
    std::set<std::string> names;
    for (const TensorConfig& tensor : loaded) {
      names.insert(tensor.name);
      const auto found = std::find_if(configured.begin(), configured.end(),
                                      [&](const TensorConfig& c) { return c.name == tensor.name; });
      if (found == configured.end()) {
        configured.push_back(tensor);
        continue;
      }
      found->dtype = tensor.dtype;
      found->dims = tensor.dims;
      found->reshape = tensor.reshape;
    }
    for (const TensorConfig& tensor : configured)
      if (!names.contains(tensor.name))
        return Status(Code::kInternal,
                      StrCat("the process of the model does not know the tensor '", tensor.name, "'"));
    return {};
  }

  const std::shared_ptr<Keeper> keeper_;
  std::atomic<uint64_t> instances_{0};
};

class IsolatingBackend : public Backend {
 public:
  IsolatingBackend(std::string folder, Isolation isolation, std::string program,
                   std::function<std::string(const ModelFiles&)> version)
      : folder_(std::move(folder)),
        isolation_(isolation),
        program_(std::move(program)),
        version_(std::move(version)) {}

  Result<std::unique_ptr<BackendModel>> Load(const ModelFiles& files, const ModelConfig& config) override {
    KeeperOptions options;
    options.model = config.name;
    options.program = program_;
    options.start = StartOf(files, config);
    options.start.backend_folder = folder_;
    options.start.sandbox = isolation_.sandbox;
    options.start.limits = isolation_.limits;
    if (version_) options.version = [version = version_, files] { return version(files); };
    options.execution_timeout = config.execution_timeout;
    TERN_ASSIGN(std::shared_ptr<Keeper> keeper, Keeper::Start(std::move(options)));
    return std::unique_ptr<BackendModel>(new IsolatedModel(std::move(keeper)));
  }

 private:
  const std::string folder_;
  const Isolation isolation_;
  const std::string program_;
  const std::function<std::string(const ModelFiles&)> version_;
};

}  // namespace

Result<std::shared_ptr<Backend>> BackendOf(BackendSource& backends, const std::string& backend_folder,
                                           const ModelConfig& config, const IsolationDefaults& defaults,
                                           std::function<std::string(const ModelFiles&)> version) {
  TERN_ASSIGN(const Isolation isolation, IsolationOf(config, defaults));
  if (!isolation.process) return backends.Find(config.backend);
  return std::shared_ptr<Backend>(
      std::make_shared<IsolatingBackend>(backend_folder, isolation, defaults.program, std::move(version)));
}

}  // namespace tern::server
