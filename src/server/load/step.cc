#include "server/load/step.h"

#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>
#include <unordered_map>

#include "server/load/latencies.h"

namespace tern::server::loadgen {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

nanoseconds Seconds(double s) { return nanoseconds(static_cast<int64_t>(s * 1e9)); }

// Wakes the loop at exact times. The timers of Loop have a resolution of only 1 ms.
class Alarm final : public Watcher {
 public:
  Alarm(Loop& loop, std::function<void()> action)
      : loop_(loop),
        action_(std::move(action)),
        fd_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {}
  ~Alarm() override {
    loop_.Remove(fd_, this);
    close(fd_);
  }
  Status Start() { return loop_.Add(fd_, this, true, false); }
  void Set(Clock::time_point time) {
    const int64_t ns = std::max<int64_t>(1, nanoseconds(time.time_since_epoch()).count());
    itimerspec spec{};
    spec.it_value = {ns / 1'000'000'000, ns % 1'000'000'000};
    timerfd_settime(fd_, TFD_TIMER_ABSTIME, &spec, nullptr);
  }
  void OnEvents(bool, bool, bool) override {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = read(fd_, &count, sizeof count);
    action_();
  }

 private:
  Loop& loop_;
  std::function<void()> action_;
  int fd_;
};

class Step final : public AnswerSink {
 public:
  Step(const LoadCommand& command, const Url& url, const std::vector<RequestBytes>& requests, double rate,
       Loop& loop)
      : command_(command),
        url_(url),
        requests_to_send_(requests),
        rate_(rate),
        loop_(loop),
        random_(command.seed),
        alarm_(loop, [this] { SendDue(); }) {}
  Status Begin();
  LoadStep Report() const;
  void OnAnswer(ClientConnection& connection, const Answer& answer) override;

 private:
  struct Slot {
    std::unique_ptr<ClientConnection> connection;
    Clock::time_point intended, sent;
  };
  void Connect(int count);
  void SendOn(Slot& slot, Clock::time_point intended);
  void SendDue();
  void DropExpired(Clock::time_point now);
  void Tick();
  void Record(const Slot& slot, const Answer& answer, Clock::time_point now);
  void Continue(Slot& slot, bool failed);
  void FinishIfIdle();
  bool Over(Clock::time_point now) const { return now >= end_ || stopped_; }

  const LoadCommand& command_;
  const Url& url_;
  const std::vector<RequestBytes>& requests_to_send_;
  size_t sent_ = 0;
  const double rate_;
  Loop& loop_;
  std::mt19937_64 random_;
  Alarm alarm_;
  // Recording starts at begin_ and ends at end_; the next request is due at next_.
  Clock::time_point begin_, end_, next_, shown_;
  std::deque<Slot> slots_;
  std::unordered_map<ClientConnection*, Slot*> slot_of_;
  std::vector<Slot*> free_;
  std::deque<Clock::time_point> waiting_;  // due times of requests that wait for a free connection
  int under_way_ = 0;
  bool stopped_ = false;
  uint64_t requests_ = 0, answers_ = 0, errors_ = 0, refused_ = 0, in_window_ = 0, within_goal_ = 0;
  std::map<std::string, uint64_t> messages_;
  Latencies latencies_, refusals_;
};

void Step::Connect(int count) {
  for (int i = 0; i < count; ++i) {
    Slot& slot = slots_.emplace_back();
    slot.connection = command_.grpc ? ConnectGrpc(loop_, url_, *this) : ConnectHttp(loop_, url_, *this);
    slot_of_[slot.connection.get()] = &slot;
    free_.push_back(&slot);
  }
}

Status Step::Begin() {
  prctl(PR_SET_TIMERSLACK, 1000);  // ns
  TERN_TRY(alarm_.Start());
  const auto now = Clock::now();
  begin_ = now + Seconds(command_.warmup_seconds);
  end_ = begin_ + Seconds(command_.seconds);
  next_ = shown_ = now;
  Connect(rate_ > 0 ? std::min(command_.max_connections, 16) : command_.concurrency);
  loop_.Post([this] {
    if (rate_ > 0) return SendDue();
    const std::vector<Slot*> all = std::exchange(free_, {});
    for (Slot* slot : all) SendOn(*slot, Clock::now());
  });
  loop_.After(milliseconds(50), [this] { Tick(); });
  return {};
}

void Step::SendOn(Slot& slot, Clock::time_point intended) {
  slot.intended = intended;
  slot.sent = Clock::now();
  ++under_way_;
  if (intended >= begin_) ++requests_;
  slot.connection->Send(requests_to_send_[sent_++ % requests_to_send_.size()], false);
}

// Sends all due requests, each on a free connection, and sets the alarm for the next one.
void Step::SendDue() {
  const auto now = Clock::now();
  std::exponential_distribution<double> gap(rate_);
  while (next_ <= now && next_ < end_ && !stopped_) {
    waiting_.push_back(next_);
    next_ += Seconds(gap(random_)) + nanoseconds(1);
  }
  DropExpired(now);
  while (!waiting_.empty()) {
    if (free_.empty() && static_cast<int>(slots_.size()) < command_.max_connections) Connect(1);
    if (free_.empty()) break;
    Slot* slot = free_.back();
    free_.pop_back();
    const auto intended = waiting_.front();
    waiting_.pop_front();
    SendOn(*slot, intended);
  }
  if (!Over(next_)) alarm_.Set(next_);
}

// A request that gets no connection within the time-out counts as an error.
void Step::DropExpired(Clock::time_point now) {
  const auto oldest = now - Seconds(command_.timeout_seconds);
  while (!waiting_.empty() && waiting_.front() < oldest) {
    const bool counts = waiting_.front() >= begin_;
    waiting_.pop_front();
    if (!counts) continue;
    ++requests_;
    ++answers_;
    ++errors_;
    ++messages_["time-out before it could be sent"];
  }
}

void Step::OnAnswer(ClientConnection& connection, const Answer& answer) {
  const auto now = Clock::now();
  Slot& slot = *slot_of_.at(&connection);
  --under_way_;
  Record(slot, answer, now);
  Continue(slot, answer.status < 0);
}

void Step::Record(const Slot& slot, const Answer& answer, Clock::time_point now) {
  if (slot.intended < begin_) return;
  ++answers_;
  const nanoseconds latency = now - slot.intended;
  if (answer.ok) {
    latencies_.Add(static_cast<uint64_t>(latency.count()));
    in_window_ += now <= end_;
    within_goal_ += now <= end_ && (command_.goal_ms <= 0 || latency <= Seconds(command_.goal_ms * 1e-3));
    return;
  }
  ++errors_;
  refused_ += answer.refused;
  if (answer.refused) refusals_.Add(static_cast<uint64_t>(latency.count()));
  if (messages_.size() < 8 || messages_.count(answer.message)) ++messages_[answer.message];
}

// Sends the next request on a connection. After a failure, waits 20 ms first, so that a server that is down
// is not flooded.
void Step::Continue(Slot& slot, bool failed) {
  if (failed) {
    loop_.After(milliseconds(20), [this, s = &slot] { Continue(*s, false); });
    return;
  }
  if (rate_ <= 0 && !Over(Clock::now())) return SendOn(slot, Clock::now());
  free_.push_back(&slot);
  if (rate_ > 0 && !waiting_.empty()) return SendDue();
  FinishIfIdle();
}

void Step::FinishIfIdle() {
  if (Over(Clock::now()) && under_way_ == 0 && (waiting_.empty() || stopped_)) loop_.Stop();
}

void Step::Tick() {
  const auto now = Clock::now();
  if (command_.stop && command_.stop() && !stopped_) {
    stopped_ = true;
    end_ = std::max(begin_, std::min(end_, now));
    waiting_.clear();
  }
  const auto oldest = now - Seconds(command_.timeout_seconds);
  for (Slot& slot : slots_)
    if (slot.connection->busy() && slot.sent < oldest) slot.connection->Abort("time-out");
  if (command_.progress && now - shown_ >= milliseconds(500)) {
    shown_ = now;
    command_.progress({std::chrono::duration<double>(now - begin_).count(), answers_, errors_,
                       static_cast<double>(latencies_.Quantile(0.5)) * 1e-6,
                       static_cast<double>(latencies_.Quantile(0.99)) * 1e-6});
  }
  DropExpired(now);
  FinishIfIdle();
  loop_.After(milliseconds(50), [this] { Tick(); });
}

LoadStep Step::Report() const {
  LoadStep s;
  s.rate = rate_;
  s.concurrency = rate_ > 0 ? static_cast<int>(slots_.size()) : command_.concurrency;
  s.seconds = std::chrono::duration<double>(end_ - begin_).count();
  s.requests = requests_;
  s.answers = answers_;
  s.errors = errors_;
  s.refused = refused_;
  s.throughput = s.seconds > 0 ? static_cast<double>(in_window_) / s.seconds : 0;
  s.goodput = s.seconds > 0 ? static_cast<double>(within_goal_) / s.seconds : 0;
  s.refused_p99_ms = static_cast<double>(refusals_.Quantile(0.99)) * 1e-6;
  const auto ms = [&](double q) { return static_cast<double>(latencies_.Quantile(q)) * 1e-6; };
  s.mean_ms = latencies_.mean_ns() * 1e-6;
  s.p50_ms = ms(0.5);
  s.p90_ms = ms(0.9);
  s.p95_ms = ms(0.95);
  s.p99_ms = ms(0.99);
  s.p999_ms = ms(0.999);
  s.max_ms = static_cast<double>(latencies_.max_ns()) * 1e-6;
  s.messages = messages_;
  for (double rest = 1; rest * static_cast<double>(latencies_.count()) >= 1; rest /= std::pow(10, 0.1))
    s.curve.emplace_back(1 - rest, ms(1 - rest));
  return s;
}

}  // namespace

Result<LoadStep> RunStep(const LoadCommand& command, const Url& url,
                         const std::vector<RequestBytes>& requests, double rate) {
  TERN_ASSIGN(std::unique_ptr<Loop> loop, Loop::Create());
  const auto step = std::make_unique<Step>(command, url, requests, rate, *loop);
  TERN_TRY(step->Begin());
  loop->Run();
  return step->Report();
}

}  // namespace tern::server::loadgen
