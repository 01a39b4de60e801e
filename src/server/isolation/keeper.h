// Keeps the process of an isolated model alive: starts it, passes messages on, and starts it again when it
// has ended.
#pragma once
#include <atomic>
#include <condition_variable>
#include <future>
#include <map>
#include <thread>

#include "server/isolation/arena.h"
#include "server/isolation/channel.h"
#include "server/isolation/spawn.h"

namespace tern::server {

struct KeeperOptions {
  std::string model;    // the name, for messages
  std::string program;  // see IsolationDefaults
  StartMessage start;
  std::function<std::string()> version;  // a text that changes with the files of the model
  std::chrono::milliseconds execution_timeout{0};
};

// What an instance uses to reach its counterpart in one process.
struct InstanceLink {
  std::unique_ptr<Channel> channel;
  Arena inputs, outputs;
  uint64_t epoch = 0;
  uint64_t runs = 0;
};

// Thread-safe.
class Keeper : public ModelProcess {
 public:
  // Starts the process and waits until it has loaded the model. The process ends when the last copy of the
  // returned pointer is destroyed. Functions must be called only through such a copy.
  static Result<std::shared_ptr<Keeper>> Start(KeeperOptions options);
  ~Keeper() override;

  const LoadedMessage& loaded() const { return loaded_; }
  const KeeperOptions& options() const { return options_; }
  // Makes instance `number`, now and in every later process.
  Status OpenInstance(uint64_t number);
  // Returns null if there is no process.
  std::shared_ptr<InstanceLink> Link(uint64_t number) const;
  // Waits, at most 2 s, for a link to a process of a later epoch. Returns null if there is none.
  std::shared_ptr<InstanceLink> AwaitLink(uint64_t number, uint64_t epoch);
  // Tells the keeper that the process of this epoch does not answer, so that no request is sent to it.
  void Suspect(uint64_t epoch);
  // Ends the process of this epoch, unless it has ended already. `reason` is for the metric.
  void Kill(uint64_t epoch, const std::string& reason, const std::string& text);
  // Passes a decoupled request on. Returns when the back end's RunCall has returned.
  void RunCall(uint64_t instance, const std::shared_ptr<Call>& call);
  StatisticsMessage Statistics() const;
  // Lost returns the error for requests that were running when the process ended, Down the error for new
  // requests.
  Status Lost() const;
  Status Down() const;

  State state() const override { return state_.load(std::memory_order_acquire); }
  uint64_t epoch() const override { return epoch_.load(std::memory_order_acquire); }
  void OnChange(std::function<void()> action) override;
  std::vector<std::pair<std::string, uint64_t>> Ends() const override;
  int64_t pid() const override;
  void End() override { Kill(epoch(), "timeout", "a request that runs has been given up"); }

 private:
  struct PendingCall {
    std::shared_ptr<Call> call;  // null after the final response
    bool returned = false;       // RunCall has returned in the process
    Clock::time_point last;      // when the process last sent a message about it
  };

  explicit Keeper(KeeperOptions options) : options_(std::move(options)) {}
  void Stop();

  // These run on the keeper's thread.
  void Loop(std::promise<Status>& first);
  Status StartProcess(Clock::time_point patience);
  Status Load(Clock::time_point patience);
  Status Open(uint64_t number, bool pump);
  Status AwaitMessage(Channel& channel, Clock::time_point patience);
  void Watch();
  void EndProcess(bool expected);
  bool BackOff();
  Status WhyNotStarted(Status status);
  void Handle(Message message);
  void HandleResponse(const Message& message);
  void ReadOutput();
  void LogLine(std::string_view line);
  void KillLateCalls();
  void FailCalls();
  void SetState(State state);
  bool stopping() const { return stop_.load(std::memory_order_acquire); }

  const KeeperOptions options_;
  std::string version_;  // of the files that were loaded
  LoadedMessage loaded_;
  UniqueFd wake_;  // an eventfd
  std::atomic<bool> stop_{false};
  std::atomic<State> state_{State::kDown};
  std::atomic<uint64_t> epoch_{0};

  // Only the keeper's thread uses these.
  Spawned process_;
  std::string line_;  // the incomplete last line of output
  Clock::time_point started_;
  int failures_ = 0;     // in a row
  bool silent_ = false;  // the process did not answer to the first message
  uint64_t lines_ = 0;   // number of logged lines of output

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::shared_ptr<Channel> control_;  // null if there is no process
  pid_t pid_ = -1;                    // the process that Kill may end; -1: none
  std::string kill_reason_, kill_text_, last_end_;
  std::map<uint64_t, std::shared_ptr<InstanceLink>> links_;  // of all instances; null without a process
  std::map<uint64_t, PendingCall> calls_;
  uint64_t next_call_ = 0;
  StatisticsMessage statistics_;
  std::map<std::string, uint64_t> ends_;
  std::function<void()> on_change_;
  std::thread thread_;
};

}  // namespace tern::server
