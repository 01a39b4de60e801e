#include "server/isolation/keeper.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "server/core/log.h"
#include "server/core/start_pool.h"

namespace tern::server {
namespace {

constexpr std::chrono::minutes kLoadLimit{10};
// Requests wait for a process that is back within this time. After it, they fail until the process is back.
constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::milliseconds kFirstDelay{100}, kLongestDelay{30'000}, kShortDelay{1000};
// A process that has run for this time was healthy: the delays begin again.
constexpr std::chrono::seconds kHealthy{30};
constexpr std::chrono::seconds kExitLimit{2};

std::chrono::milliseconds DelayAfter(int failures) {
  return std::min(kLongestDelay, kFirstDelay * (1 << std::min(failures - 1, 10)));
}

}  // namespace

Result<std::shared_ptr<Keeper>> Keeper::Start(KeeperOptions options) {
  std::shared_ptr<Keeper> keeper(new Keeper(std::move(options)));
  keeper->wake_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!keeper->wake_) return Unavailable("no descriptor for the process of a model");
  if (keeper->options_.version) keeper->version_ = keeper->options_.version();
  auto first = std::make_shared<std::promise<Status>>();
  auto started = first->get_future();
  // The thread owns the object too. The last owner outside the thread stops the thread.
  // StartThread is used because the caller may have a low priority, and requests wait for the process.
  keeper->thread_ = StartThread([keeper, first] { keeper->Loop(*first); });
  std::shared_ptr<Keeper> owner(keeper.get(), [keeper](Keeper* k) mutable {
    k->Stop();
    keeper.reset();
  });
  TERN_TRY(started.get());
  return owner;
}

Keeper::~Keeper() = default;

void Keeper::Stop() {
  stop_.store(true, std::memory_order_release);
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();  // a response has dropped the last reference to the model
  else
    thread_.join();
}

void Keeper::Loop(std::promise<Status>& first) {
  Status status = StartProcess(Clock::time_point::max());
  const bool ok = status.ok();
  if (!ok) status = WhyNotStarted(std::move(status));
  if (ok) SetState(State::kUp);
  first.set_value(std::move(status));
  if (!ok) return;
  while (!stopping()) {
    Watch();
    EndProcess(stopping());
    while (!stopping() && !BackOff()) {
    }
  }
  EndProcess(true);
}

// Waits, then starts the process again. Returns whether it runs.
bool Keeper::BackOff() {
  const auto ended = Clock::now();
  const auto delay = DelayAfter(failures_);
  SetState(delay < kShortDelay ? State::kRestarting : State::kDown);
  pollfd wake{wake_.get(), POLLIN, 0};
  poll(&wake, 1, static_cast<int>(delay.count()));
  if (stopping()) return false;
  Status status;
  if (options_.version && options_.version() != version_)
    status = Unavailable("its files have changed since it was loaded; load it again");
  else
    status = StartProcess(ended + kPatience);
  if (status.ok()) {
    SetState(State::kUp);
    Log(LogLevel::kInfo, StrCat("model '", options_.model, "': process ", process_.pid, " runs again"));
    return true;
  }
  status = WhyNotStarted(std::move(status));
  if (stopping()) return false;
  ++failures_;
  Log(LogLevel::kError,
      StrCat("model '", options_.model, "': its process cannot be started: ", status.message(),
             "; the next attempt is in ", DelayAfter(failures_).count(), " ms"));
  return false;
}

// Ends the process that could not be started. Returns the error with the reason.
Status Keeper::WhyNotStarted(Status status) {
  const bool answered = !std::exchange(silent_, false);
  if (status.code() == Code::kInternal) Kill(epoch(), "protocol", status.message());
  const bool ran = process_.pid > 0;
  EndProcess(true);
  if (answered || !ran) return status;
  const std::lock_guard lock(mutex_);
  return Unavailable("its process ended while it loaded the model: ", last_end_);
}

// From `patience` on, requests no longer wait for the process, but fail.
Status Keeper::StartProcess(Clock::time_point patience) {
  TERN_ASSIGN(process_, Spawn(options_.program, options_.start.sandbox));
  started_ = Clock::now();
  lines_ = 0;
  {
    const std::lock_guard lock(mutex_);
    control_ = std::make_shared<Channel>(std::move(process_.socket));
    pid_ = process_.pid;
    kill_reason_.clear();
    kill_text_.clear();
  }
  epoch_.fetch_add(1, std::memory_order_acq_rel);
  TERN_TRY(Load(patience));
  std::vector<uint64_t> numbers;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, link] : links_) numbers.push_back(number);
  }
  for (const uint64_t number : numbers) TERN_TRY(Open(number, true));
  return {};
}

Status Keeper::Load(Clock::time_point patience) {
  StartMessage start = options_.start;
  start.server = getpid();
  const std::shared_ptr<Channel> control = control_;
  silent_ = true;
  TERN_TRY(control->Send(MessageType::kStart, 0, Encode(start)));
  TERN_TRY(AwaitMessage(*control, patience));
  auto received = control->Receive(Clock::now() + kShortDelay);
  silent_ = !received.ok() && received.status().code() == Code::kUnavailable;
  TERN_ASSIGN(const Message message, std::move(received));
  if (message.type != MessageType::kLoaded)
    return Status(Code::kInternal, "the process of the model sent a wrong first message");
  LoadedMessage loaded;
  TERN_TRY(Parse(message.payload, loaded));
  if (!loaded.sandbox.empty())
    Log(LogLevel::kInfo,
        StrCat("model '", options_.model, "': process ", process_.pid, " is in a sandbox: ", loaded.sandbox));
  if (epoch() > 1) return {};  // the first description stays, because the files are the same
  loaded_ = std::move(loaded);
  const std::lock_guard lock(mutex_);
  statistics_.memory = loaded_.memory;
  return {};
}

// Waits until the process has sent something, and logs its output meanwhile. Fails if the process ends.
Status Keeper::AwaitMessage(Channel& channel, Clock::time_point patience) {
  const auto end = Clock::now() + kLoadLimit;
  for (;;) {
    pollfd fds[] = {{channel.fd(), POLLIN, 0}, {process_.output.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (poll(fds, 3, 50) < 0 && errno != EINTR) return Unavailable("poll: ", std::strerror(errno));
    if (fds[1].revents) ReadOutput();
    if (stopping()) return Unavailable("the model is unloaded");
    if (fds[0].revents & POLLIN) return {};
    if (fds[0].revents) return Unavailable("its process ended while it loaded the model");
    if (Clock::now() >= patience && state() == State::kRestarting) SetState(State::kDown);
    if (Clock::now() >= end) return Unavailable("its process took too long to load the model");
  }
}

Status Keeper::OpenInstance(uint64_t number) { return Open(number, false); }

Status Keeper::Open(uint64_t number, bool pump) {
  auto link = std::make_shared<InstanceLink>();
  TERN_ASSIGN(auto sockets, Channel::Pair());
  TERN_ASSIGN(link->inputs, Arena::Create());
  TERN_ASSIGN(link->outputs, Arena::Create());
  link->channel = std::make_unique<Channel>(std::move(sockets.first));
  link->epoch = epoch();
  std::shared_ptr<Channel> control;
  {
    const std::lock_guard lock(mutex_);
    control = control_;
    links_[number] = pump ? nullptr : link;  // EndProcess shuts this link down, which ends the wait below
  }
  if (!control) return Down();
  TERN_TRY(control->Send(MessageType::kOpenInstance, number, {},
                         {sockets.second.get(), link->inputs.fd(), link->outputs.fd()}));
  sockets.second.Reset();
  if (pump) TERN_TRY(AwaitMessage(*link->channel, Clock::time_point::max()));
  TERN_ASSIGN(const Message message, link->channel->Receive(Clock::now() + kLoadLimit));
  Status status;
  if (message.type != MessageType::kOpened)
    return Status(Code::kInternal, "the process of the model sent a wrong message");
  TERN_TRY(ParseStatus(message.payload, status));
  TERN_TRY(status);
  {
    const std::lock_guard lock(mutex_);
    if (control_ == control) links_[number] = std::move(link);
  }
  changed_.notify_all();
  return link ? Down() : Status();
}

// Ends the process if it still runs, and everything that waits for it.
void Keeper::EndProcess(bool expected) {
  std::shared_ptr<Channel> control;
  std::vector<std::shared_ptr<InstanceLink>> links;
  {
    const std::lock_guard lock(mutex_);
    control.swap(control_);
    pid_ = -1;
    for (auto& [number, link] : links_)
      if (link) links.push_back(std::exchange(link, nullptr));
  }
  if (!control) return;
  if (!expected) SetState(State::kRestarting);
  control->Shutdown();
  for (const auto& link : links) link->channel->Shutdown();
  EndOfProcess end = Reap(process_.pid, false);
  // A process that closed its socket is about to exit.
  const auto limit = Clock::now() + kExitLimit;
  while (end.reason.empty() && Clock::now() < limit) {
    pollfd fds[] = {{process_.handle.get(), POLLIN, 0}, {process_.output.get(), POLLIN, 0}};
    poll(fds, 2, process_.handle ? 50 : 5);
    ReadOutput();
    end = Reap(process_.pid, false);
  }
  if (end.reason.empty()) {
    kill(process_.pid, SIGKILL);
    end = Reap(process_.pid, true);
  }
  ReadOutput();
  if (!line_.empty()) LogLine(std::exchange(line_, {}));
  const pid_t pid = process_.pid;
  process_ = Spawned();
  if (expected) {
    const std::lock_guard lock(mutex_);
    last_end_ = kill_text_.empty() ? end.text : kill_text_;
  }
  if (expected) return FailCalls();
  failures_ = Clock::now() - started_ > kHealthy ? 1 : failures_ + 1;
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    if (!kill_reason_.empty()) end.reason = kill_reason_;
    text = kill_text_.empty() ? end.text : kill_text_;
    last_end_ = text;
    ++ends_[end.reason];
  }
  Log(LogLevel::kError, StrCat("model '", options_.model, "': process ", pid, " ended: ", text,
                               "; it is started again in ", DelayAfter(failures_).count(), " ms"));
  FailCalls();
}

void Keeper::Kill(uint64_t epoch, const std::string& reason, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (epoch != this->epoch() || pid_ <= 0) return;
  if (kill_reason_.empty()) {
    kill_reason_ = reason;
    kill_text_ = text;
  }
  kill(pid_, SIGKILL);
}

void Keeper::SetState(State state) {
  std::function<void()> action;
  {
    const std::lock_guard lock(mutex_);
    if (state_.exchange(state, std::memory_order_acq_rel) == state) return;
    action = on_change_;
  }
  changed_.notify_all();
  if (action) action();
}

// The state changes before the caller returns, so that the next request waits for the next process.
void Keeper::Suspect(uint64_t epoch) {
  std::function<void()> action;
  {
    const std::lock_guard lock(mutex_);
    if (epoch != this->epoch() || !control_) return;
    control_->Shutdown();  // the keeper's thread then ends the process
    for (auto& [number, link] : links_)
      if (link) std::exchange(link, nullptr)->channel->Shutdown();
    if (state_.exchange(State::kRestarting, std::memory_order_acq_rel) == State::kRestarting) return;
    action = on_change_;
  }
  if (action) action();
}

void Keeper::OnChange(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  on_change_ = std::move(action);
}

}  // namespace tern::server
