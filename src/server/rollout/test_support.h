// Versions and calls for the tests of this folder.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "server/core/eventually.h"
#include "server/core/registry.h"

namespace tern::server {
namespace {  // other folders have helpers of the same names

// Answers each request at once with its first input as output "y", or as `mode` says.
class FakeVersion : public ModelVersion {
 public:
  enum class Mode { kEcho, kWrong, kFail, kHang, kRefuse };
  explicit FakeVersion(std::string version, ModelConfig config = Named("m"), Mode mode = Mode::kEcho)
      : ModelVersion(std::move(config), std::move(version)), mode(mode) {}
  ~FakeVersion() override { AnswerHeld(); }

  static ModelConfig Named(const std::string& name) {
    ModelConfig config;
    config.name = name;
    return config;
  }
  static ModelConfig WithPolicy(const std::string& policy) {
    ModelConfig config = Named("m");
    config.parameters["tern_rollout"] = policy;
    return config;
  }

  bool placeholder() const override { return holds; }
  void Submit(std::shared_ptr<Call> call) override {
    ++submitted;
    if (call->request.copy) ++copies;
    if (mode == Mode::kHang) {
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(call));
      return;
    }
    const auto now = Clock::now();
    call->times.queued = call->times.started = now;
    call->times.finished = now + duration;
    call->times.batch = 1;
    Response response;
    if (mode == Mode::kFail) response.status = Status(Code::kInternal, "it failed");
    if (mode == Mode::kRefuse) response.status = ResourceExhausted("overloaded");
    if (response.status.ok()) response.outputs = {Output(call->request)};
    call->Respond(std::move(response));
  }
  void AnswerHeld() {
    std::vector<std::shared_ptr<Call>> held;
    {
      const std::lock_guard lock(mutex_);
      held.swap(held_);
    }
    for (const auto& call : held) call->Respond({});
  }
  size_t MemoryBytes() const override { return 1; }
  size_t Pending() const override { return 0; }

  std::atomic<Mode> mode;
  std::atomic<int> submitted{0}, copies{0};
  bool holds = false;  // it only holds requests until a version is loaded
  std::chrono::nanoseconds duration{std::chrono::milliseconds(1)};

 private:
  WireTensor Output(const Request& request) const {
    WireTensor out{"y", DType::kF32, {1}, Buffer::Allocate(sizeof(float))};
    if (!request.inputs.empty()) std::memcpy(out.bytes.data(), request.inputs[0].bytes.data(), sizeof(float));
    if (mode == Mode::kWrong) out.bytes.data()[3] ^= std::byte{1};
    return out;
  }
  std::mutex mutex_;
  std::vector<std::shared_ptr<Call>> held_;
};

// A client's request with one float.
class FakeCall : public Call {
 public:
  explicit FakeCall(float value = 1) {
    request.inputs.push_back({"x", DType::kF32, {1}, Buffer::Allocate(sizeof value)});
    std::memcpy(request.inputs[0].bytes.data(), &value, sizeof value);
  }
  std::atomic<int> answers{0};
  Status status;

 protected:
  void OnResponse(Response response) override {
    status = response.status;
    ++answers;
  }
};

// Sends a request as a front end does. Returns the version that answered it.
inline std::string Send(Registry& registry, const std::string& version = "", Status* status = nullptr) {
  auto found = registry.Find("m", version);
  if (!found.ok()) {
    if (status) *status = found.TakeStatus();
    return "";
  }
  const auto call = std::make_shared<FakeCall>();
  std::shared_ptr<ModelVersion> model = *found;
  if (auto chosen = model->Choose(call->request)) model = std::move(chosen);
  model->Submit(call);
  if (status) *status = call->status;
  return model->version();
}

}  // namespace
}  // namespace tern::server
