#include "server/repository/trial.h"

#include <condition_variable>

namespace tern::server {
namespace {

constexpr std::chrono::minutes kLimit{10};

class TrialCall : public Call {
 public:
  Result<std::vector<WireTensor>> Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!changed_.wait_for(lock, kLimit, [&] { return done_; }))
      return Unavailable("the request takes too long");
    if (!status_.ok()) return status_;
    return std::move(outputs_);
  }

 private:
  void OnResponse(Response response) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!response.status.ok()) status_ = std::move(response.status);
    if (!response.outputs.empty()) outputs_ = std::move(response.outputs);
    done_ |= response.final;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  Status status_;
  std::vector<WireTensor> outputs_;
};

}  // namespace

Result<std::vector<WireTensor>> TryRequest(ModelVersion& version, Request request) {
  const auto call = std::make_shared<TrialCall>();
  call->request = std::move(request);
  call->request.arrived = Clock::now();
  version.Submit(call);
  auto outputs = call->Wait();
  if (!outputs.ok()) call->Cancel();
  return outputs;
}

}  // namespace tern::server
