// Fake back ends and calls for the tests of this folder.
#pragma once
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>

#include "server/core/backend.h"
#include "server/core/eventually.h"
#include "server/scheduler/scheduler.h"

namespace tern::server {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class TestCall : public Call {
 public:
  // Waits for the final response. Fails the test after 20 s.
  Response Wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(done_.wait_for(lock, std::chrono::seconds(20), [this] { return final_; })) << "no answer";
    return responses_.empty() ? Response() : responses_.back();
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return responses_.size();
  }
  std::vector<Response> responses() {
    const std::lock_guard lock(mutex_);
    return responses_;
  }
  std::thread::id thread() {
    const std::lock_guard lock(mutex_);
    return thread_;
  }
  std::function<void()> on_final;

 private:
  void OnResponse(Response response) override {
    const bool last = response.final;
    {
      const std::lock_guard lock(mutex_);
      EXPECT_FALSE(final_) << "a response after the final one";
      thread_ = std::this_thread::get_id();
      responses_.push_back(std::move(response));
    }
    if (!last) return;
    if (on_final) on_final();
    const std::lock_guard lock(mutex_);
    final_ = true;
    done_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<Response> responses_;
  std::thread::id thread_;
  bool final_ = false;
};

using RunFunction = std::function<Result<std::vector<WireTensor>>(Batch&)>;
using CallFunction = std::function<void(const std::shared_ptr<Call>&)>;

class FakeModel : public BackendModel {
 public:
  explicit FakeModel(RunFunction run, CallFunction run_call = {})
      : run_(std::move(run)), run_call_(std::move(run_call)) {}
  Status Complete(ModelConfig&) override { return {}; }
  size_t MemoryBytes() const override { return 7; }
  bool Parallel() const override { return true; }
  std::vector<std::pair<std::string, double>> Metrics() const override { return {{"fakes", 3}}; }
  bool KeepsSequences() const override { return end_sequence != nullptr; }
  std::function<void(const std::string&)> end_sequence;  // if set, before the model is added
  ModelProcess* process() const override { return isolated; }
  ModelProcess* isolated = nullptr;
  Result<std::unique_ptr<BackendInstance>> CreateInstance() override {
    return std::unique_ptr<BackendInstance>(std::make_unique<Instance>(*this));
  }

 private:
  class Instance : public BackendInstance {
   public:
    explicit Instance(FakeModel& model) : model_(model) {}
    Result<std::vector<WireTensor>> Run(Batch& batch) override {
      EXPECT_FALSE(busy_.exchange(true)) << "two executions on one instance";
      const std::shared_ptr<void> idle(nullptr, [this](void*) { busy_ = false; });
      return model_.run_(batch);
    }
    void RunCall(const std::shared_ptr<Call>& call) override { model_.run_call_(call); }
    void EndSequence(const std::string& id) override {
      EXPECT_FALSE(busy_.exchange(true)) << "an execution runs on the instance";
      model_.end_sequence(id);
      busy_ = false;
    }

   private:
    FakeModel& model_;
    std::atomic<bool> busy_{false};
  };
  const RunFunction run_;
  const CallFunction run_call_;
};

inline Buffer BytesOfText(const std::string& text) {
  Buffer buffer = Buffer::Allocate(text.size());
  if (!text.empty()) std::memcpy(buffer.data(), text.data(), text.size());
  return buffer;
}

template <class T> WireTensor Make(std::string name, DType dtype, Dims dims, const std::vector<T>& values) {
  std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return {std::move(name), dtype, std::move(dims), BytesOfText(bytes)};
}

inline WireTensor Ints(std::string name, Dims dims, const std::vector<int32_t>& values) {
  return Make(std::move(name), DType::kI32, std::move(dims), values);
}

inline WireTensor Strings(std::string name, Dims dims, const std::vector<std::string>& values) {
  std::string bytes;
  for (const std::string& value : values) {
    const auto length = static_cast<uint32_t>(value.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
    bytes += value;
  }
  return {std::move(name), DType::kString, std::move(dims), BytesOfText(bytes)};
}

inline std::vector<int32_t> ToInts(const WireTensor& tensor) {
  std::vector<int32_t> values(tensor.bytes.size() / sizeof(int32_t));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(int32_t));
  return values;
}

// Returns input "x" as output "y".
inline Result<std::vector<WireTensor>> Identity(Batch& batch) {
  std::vector<WireTensor> outputs;
  for (const WireTensor& input : batch.inputs)
    if (input.name == "x") outputs.push_back({"y", input.dtype, input.dims, input.bytes});
  return outputs;
}

// A model with input x: INT32[-1] and output y: INT32[-1].
inline ModelConfig IntModel(int max_batch_size = 0) {
  ModelConfig config;
  config.name = "m";
  config.max_batch_size = max_batch_size;
  config.inputs.push_back({.name = "x", .dtype = DType::kI32, .dims = {-1}});
  config.outputs.push_back({.name = "y", .dtype = DType::kI32, .dims = {-1}});
  return config;
}

// A request with one item of one element for a model with a batch dim.
inline std::shared_ptr<TestCall> IntCall(int32_t value, Dims dims = {1, 1}) {
  auto call = std::make_shared<TestCall>();
  call->request.inputs.push_back(Ints("x", std::move(dims), {value}));
  call->request.arrived = Clock::now();
  return call;
}

// Executions that call Pass wait until Open is called.
class Gate {
 public:
  Gate() = default;
  Gate(const Gate&) = delete;
  ~Gate() { const std::lock_guard lock(mutex_); }  // the last call of Pass may still be notifying
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void AwaitWaiting(int count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return waiting_ >= count; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

// A scheduler with two threads and one model.
struct SchedulerWithModel {
  std::unique_ptr<Scheduler> scheduler;
  std::shared_ptr<ModelVersion> model;

  SchedulerWithModel(ModelConfig config, RunFunction run) {
    SchedulerOptions options;
    options.threads = 2;
    scheduler = Scheduler::Create(options);
    auto added = scheduler->Add(std::move(config), "1", std::make_unique<FakeModel>(std::move(run)));
    EXPECT_TRUE(added.ok()) << added.status().ToString();
    model = *added;
  }
  Response Run(const std::shared_ptr<TestCall>& call) {
    model->Submit(call);
    return call->Wait();
  }
};

}  // namespace tern::server
