// What the keeper does while the process runs, and what others ask of it.
#include <fcntl.h>
#include <poll.h>

#include <cerrno>

#include "server/core/log.h"
#include "server/isolation/keeper.h"

namespace tern::server {
namespace {

constexpr int kWatchMs = 100;  // interval between two checks for late calls, if their time is limited
constexpr std::chrono::seconds kLinkLimit{2};
constexpr size_t kMaxLine = 2000;       // bytes of a line of output
constexpr uint64_t kMaxLines = 10'000;  // per process: a model must not fill the disk

}  // namespace

void Keeper::Watch() {
  const std::shared_ptr<Channel> control = control_;
  const int interval = options_.execution_timeout.count() > 0 ? kWatchMs : -1;
  for (;;) {
    pollfd fds[] = {{control->fd(), POLLIN, 0},
                    {process_.output.get(), POLLIN, 0},
                    {process_.handle.get(), POLLIN, 0},
                    {wake_.get(), POLLIN, 0}};
    if (poll(fds, 4, interval) < 0 && errno != EINTR) return;
    if (stopping()) return;
    if (fds[1].revents) ReadOutput();
    // Messages that the process sent before its end are read first.
    if (fds[0].revents) {
      auto message = control->Receive(Clock::now());
      if (message.ok()) {
        Handle(std::move(*message));
        continue;
      }
      if (message.status().code() == Code::kInternal) Kill(epoch(), "protocol", message.status().message());
      if (message.status().code() != Code::kCancelled) return;
    }
    if (fds[2].revents) return;
    KillLateCalls();
  }
}

void Keeper::Handle(Message message) {
  if (message.type == MessageType::kResponse) return HandleResponse(message);
  if (message.type == MessageType::kReturned) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(message.id);
    if (found == calls_.end()) return;
    found->second.returned = true;
    if (!found->second.call) calls_.erase(found);
    return changed_.notify_all();
  }
  StatisticsMessage statistics;
  Status status = message.type == MessageType::kStatistics
                      ? Parse(message.payload, statistics)
                      : Status(Code::kInternal, "it sent a message of an unknown type");
  if (!status.ok()) return Kill(epoch(), "protocol", status.message());
  const std::lock_guard lock(mutex_);
  statistics_ = std::move(statistics);
}

void Keeper::HandleResponse(const Message& message) {
  Response response;
  const Status status = Parse(message.payload, response);
  if (!status.ok()) return Kill(epoch(), "protocol", status.message());
  std::shared_ptr<Call> call;
  {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(message.id);
    if (found == calls_.end() || !found->second.call) return;  // the call is answered
    call = found->second.call;
    found->second.last = Clock::now();
    if (response.final || !response.status.ok()) {
      found->second.call.reset();
      if (found->second.returned) calls_.erase(found);
    }
  }
  call->Respond(std::move(response));
}

void Keeper::RunCall(uint64_t instance, const std::shared_ptr<Call>& call) {
  std::shared_ptr<Channel> control;
  uint64_t id = 0, epoch = 0;
  const bool runs = AwaitLink(instance, 0) != nullptr;
  if (runs) {
    const std::lock_guard lock(mutex_);
    control = control_;
    epoch = this->epoch();
    id = next_call_++;
    if (control) calls_[id] = {call, false, Clock::now()};
  }
  if (!control) {
    Response response;
    response.status = Down();
    return call->Respond(std::move(response));
  }
  call->OnCancel([weak = std::weak_ptr<Channel>(control), id] {
    if (const auto channel = weak.lock()) (void)channel->Send(MessageType::kCancel, id, {}, {}, false).ok();
  });
  const Status sent = control->Send(MessageType::kCall, id, Encode(instance, call->request));
  std::unique_lock lock(mutex_);
  if (!sent.ok()) {
    const bool large = sent.code() == Code::kResourceExhausted;
    if (large) calls_.erase(id);
    lock.unlock();
    if (!large) return Kill(epoch, "timeout", sent.message());
    Response response;
    response.status = sent;
    return call->Respond(std::move(response));
  }
  changed_.wait(lock, [&] {
    const auto found = calls_.find(id);
    return found == calls_.end() || found->second.returned;
  });
}

// A decoupled request may run for as long as responses arrive.
void Keeper::KillLateCalls() {
  if (options_.execution_timeout.count() <= 0) return;
  bool late = false;
  {
    const std::lock_guard lock(mutex_);
    const auto limit = Clock::now() - options_.execution_timeout;
    for (const auto& [id, pending] : calls_) late |= pending.call && pending.last < limit;
  }
  if (late)
    Kill(epoch(), "timeout",
         StrCat("a request got no response for ", options_.execution_timeout.count(),
                " ms, the limit execution_timeout_ms"));
}

void Keeper::FailCalls() {
  std::map<uint64_t, PendingCall> calls;
  bool timed_out = false;
  {
    const std::lock_guard lock(mutex_);
    calls.swap(calls_);
    timed_out = kill_reason_ == "timeout";
  }
  changed_.notify_all();
  for (auto& [id, pending] : calls) {
    if (!pending.call) continue;
    Response response;
    response.status = Lost();
    response.timed_out = timed_out;
    pending.call->Respond(std::move(response));
  }
}

std::shared_ptr<InstanceLink> Keeper::Link(uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = links_.find(number);
  return found == links_.end() ? nullptr : found->second;
}

std::shared_ptr<InstanceLink> Keeper::AwaitLink(uint64_t number, uint64_t epoch) {
  std::unique_lock lock(mutex_);
  std::shared_ptr<InstanceLink> found;
  changed_.wait_for(lock, kLinkLimit, [&] {
    const auto place = links_.find(number);
    if (place != links_.end() && place->second && place->second->epoch > epoch) found = place->second;
    return found || state() == State::kDown || stopping();
  });
  return found;
}

int64_t Keeper::pid() const {
  const std::lock_guard lock(mutex_);
  return pid_;
}

StatisticsMessage Keeper::Statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

std::vector<std::pair<std::string, uint64_t>> Keeper::Ends() const {
  const std::lock_guard lock(mutex_);
  return {ends_.begin(), ends_.end()};
}

Status Keeper::Lost() const {
  return Unavailable("the process of model '", options_.model,
                     "' ended during the execution of the request; it is started again");
}

Status Keeper::Down() const {
  const std::lock_guard lock(mutex_);
  return Unavailable("the process of model '", options_.model, "' does not run",
                     last_end_.empty() ? "" : ": it ended with ", last_end_, "; it is started again");
}

void Keeper::ReadOutput() {
  char buffer[4096];
  for (int i = 0; i < 16; ++i) {
    const ssize_t got = read(process_.output.get(), buffer, sizeof buffer);
    if (got == 0) process_.output.Reset();  // a closed pipe would be readable for ever
    if (got <= 0) return;
    line_.append(buffer, static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end = 0; (end = line_.find('\n', begin)) != std::string::npos; begin = end + 1)
      LogLine(std::string_view(line_).substr(begin, end - begin));
    line_.erase(0, begin);
    if (line_.size() > kMaxLine) LogLine(std::exchange(line_, {}));
  }
}

void Keeper::LogLine(std::string_view line) {
  if (line.empty() || lines_ > kMaxLines) return;
  const bool last = ++lines_ > kMaxLines;
  Log(LogLevel::kInfo, StrCat("model '", options_.model, "', process ", process_.pid, ": ",
                              last ? "more output is not logged" : line.substr(0, kMaxLine)));
}

}  // namespace tern::server
