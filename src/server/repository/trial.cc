#include "server/repository/trial.h"

#include <algorithm>
#include <condition_variable>

#include "server/repository/load_threads.h"

namespace tern::server {
namespace {

constexpr std::chrono::milliseconds kPoll{50};

class TrialCall : public Call {
 public:
  Result<std::vector<WireTensor>> Wait(const ModelVersion& version, std::chrono::milliseconds limit) {
    const auto end = Clock::now() + limit;
    const auto done = [&] { return done_; };
    std::unique_lock<std::mutex> lock(mutex_);
    if (!changed_.wait_for(lock, std::min<std::chrono::milliseconds>(limit, kTrialPatience), done)) {
      lock.unlock();
      const LoadThreads::Waiting others(
          StrCat("a trial of model '", version.config().name, "' version ", version.version()));
      lock.lock();
      while (!changed_.wait_for(lock, kPoll, done)) {
        if (others.cancelled()) return Unavailable("the server stops while the model is tried");
        if (Clock::now() < end) continue;
        // A thread that hangs is replaced, but their number is limited.
        const char* why =
            version.Pending() > 0 ? "; it waits for a thread, and the log names the models that hang" : "";
        return Unavailable("a request to try the model takes longer than ", limit.count(), " ms", why);
      }
    }
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

Result<std::vector<WireTensor>> TryRequest(ModelVersion& version, Request request,
                                           std::chrono::milliseconds limit) {
  const auto call = std::make_shared<TrialCall>();
  call->request = std::move(request);
  call->request.arrived = Clock::now();
  version.Submit(call);
  auto outputs = call->Wait(version, limit);
  if (!outputs.ok()) call->Cancel();
  return outputs;
}

}  // namespace tern::server
