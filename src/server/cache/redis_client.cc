#include "server/cache/redis_client.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "server/core/log.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstDelay{100}, kLongestDelay{5000}, kConnectLimit{1000};
// After this many searches in a row without an answer in time, the connection is given up.
constexpr int kMaxTimeouts = 5;
// The largest number of bytes that wait for the socket. Entries beyond it are not stored.
constexpr size_t kMaxWaiting = size_t{32} << 20;
constexpr size_t kMaxBulk = size_t{256} << 20;

}  // namespace

struct RedisClient::Addresses {
  std::vector<std::pair<sockaddr_storage, socklen_t>> list;
  std::string error;
};

RedisClient::RedisClient(Loop& loop, std::shared_ptr<LoopLink> link, RedisOptions options,
                         RedisCounts& counts)
    : loop_(loop),
      link_(std::move(link)),
      options_(std::move(options)),
      counts_(counts),
      reader_(kMaxBulk),
      delay_(kFirstDelay) {}

// The loop has ended, so the callbacks of waiting searches are only destroyed.
RedisClient::~RedisClient() {
  resolver_.Stop();
  if (fd_ >= 0) close(fd_);
}

std::string RedisClient::Place() const { return StrCat("redis ", options_.host, ":", options_.port); }

void RedisClient::Start() { Resolve(); }

void RedisClient::Resolve() {
  retry_timer_ = 0;
  const auto addresses = std::make_shared<Addresses>();
  const bool posted = resolver_.Post([this, addresses, link = link_] {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(options_.host.c_str(), StrCat(options_.port).c_str(), &hints, &found);
    if (error != 0) addresses->error = gai_strerror(error);
    for (const addrinfo* a = found; a; a = a->ai_next) {
      auto& [address, size] = addresses->list.emplace_back();
      size = a->ai_addrlen;
      std::memcpy(&address, a->ai_addr, a->ai_addrlen);
    }
    if (found) freeaddrinfo(found);
    link->Post([this, addresses] { Connect(addresses); });
  });
  if (!posted) Fail("no thread resolves the name");
}

void RedisClient::Connect(const std::shared_ptr<Addresses>& addresses) {
  addresses_ = addresses;
  next_ = 0;
  TryNext(StrCat("cannot resolve the name: ", addresses->error));
}

// Opens a connection to the next address of the name. `reason` says why the attempt before failed.
void RedisClient::TryNext(std::string reason) {
  Close();
  pending_.clear();  // only the commands that open a connection
  while (next_ < addresses_->list.size()) {
    const auto& [address, size] = addresses_->list[next_++];
    fd_ = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const bool begun = fd_ >= 0 && (connect(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0 ||
                                    errno == EINPROGRESS);
    if (begun && loop_.Add(fd_, this, false, true).ok()) return Await();
    reason = StrCat("cannot connect: ", std::strerror(errno));
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  Fail(reason);
}

void RedisClient::Await() {
  const int one = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  connecting_ = writing_ = true;
  timer_ = loop_.After(kConnectLimit, [this] {
    timer_ = 0;
    TryNext("the connection is not accepted in time");
  });
}

// A connection is usable when Redis has answered to the commands that open it.
void RedisClient::OnConnected() {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0)
    return TryNext(StrCat("cannot connect: ", std::strerror(error)));
  connecting_ = false;
  const auto expect = [this](const char* what) {
    return [this, what](Result<RespReply> reply) {
      if (reply.ok() && reply->kind == RespReply::Kind::kError) Fail(StrCat(what, ": ", reply->text));
    };
  };
  const std::string db = StrCat(options_.db);
  if (!options_.password.empty() && options_.user.empty())
    Send({"AUTH", options_.password}, expect("the password is refused"), false);
  else if (!options_.password.empty())
    Send({"AUTH", options_.user, options_.password}, expect("the user is refused"), false);
  if (options_.db > 0) Send({"SELECT", db}, expect("the database is refused"), false);
  Send(
      {"PING"},
      [this](Result<RespReply> reply) {
        if (!reply.ok()) return;
        if (reply->kind != RespReply::Kind::kText) return Fail(StrCat("PING fails: ", reply->text));
        loop_.Cancel(std::exchange(timer_, 0));
        delay_ = kFirstDelay;
        timeouts_in_row_ = 0;
        counts_.up = true;
        if (std::exchange(told_, false)) Log(LogLevel::kInfo, StrCat("cache: ", Place(), " is back"));
      },
      false);
}

void RedisClient::Get(std::string_view key, Found found) {
  if (!counts_.up || out_.size() - out_at_ > kMaxWaiting) return found({});
  Send(
      {"GET", key},
      [this, found = std::move(found)](Result<RespReply> reply) {
        const bool hit = reply.ok() && reply->kind == RespReply::Kind::kBulk;
        if (reply.ok() && reply->kind == RespReply::Kind::kError) ++counts_.failures;
        if (reply.ok()) ++(hit ? counts_.found : counts_.missed);
        found(hit ? std::optional(std::move(reply->text)) : std::nullopt);
      },
      true);
  if (timer_ == 0) ArmTimer();
}

void RedisClient::Set(std::string_view key, std::string_view value) {
  if (!counts_.up || out_.size() - out_at_ + value.size() > kMaxWaiting) {
    ++counts_.dropped;
    return;
  }
  const auto stored = [this](Result<RespReply> reply) {
    if (reply.ok() && reply->kind == RespReply::Kind::kError) ++counts_.failures, ++counts_.dropped;
  };
  const std::string seconds = StrCat(options_.ttl.count());
  if (options_.ttl.count() > 0)
    Send({"SET", key, value, "EX", seconds}, stored, false);
  else
    Send({"SET", key, value}, stored, false);
}

void RedisClient::Send(const std::vector<std::string_view>& words, Handler handler, bool search) {
  if (fd_ < 0) return handler(IoError("there is no connection"));
  AppendCommand(words, out_);
  pending_.push_back({std::move(handler), Clock::now(), search});
  Flush();
}

void RedisClient::Flush() {
  while (fd_ >= 0 && out_at_ < out_.size()) {
    const ssize_t sent = send(fd_, out_.data() + out_at_, out_.size() - out_at_, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) return Fail(StrCat("cannot send: ", std::strerror(errno)));
    if (sent < 0) break;
    out_at_ += static_cast<size_t>(sent);
  }
  if (fd_ < 0) return;
  const bool wait = out_at_ < out_.size();
  if (!wait) {
    out_.clear();
    out_at_ = 0;
    if (out_.capacity() > kMaxWaiting / 8) out_.shrink_to_fit();
  }
  writing_ = wait;
  loop_.Change(fd_, this, true, wait);
}

void RedisClient::OnEvents(bool readable, bool writable, bool hang_up) {
  if (connecting_) return OnConnected();
  if (readable) Read();
  if (fd_ >= 0 && writable) Flush();
  if (fd_ >= 0 && hang_up && !readable) Fail("the connection is closed");
}

void RedisClient::Read() {
  char block[65536];
  while (fd_ >= 0) {
    const ssize_t got = recv(fd_, block, sizeof block, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0) return Fail(StrCat("cannot receive: ", std::strerror(errno)));
    if (got == 0) return Fail("the connection is closed");
    reader_.Feed({block, static_cast<size_t>(got)});
    while (fd_ >= 0) {
      auto reply = reader_.Next();
      if (!reply.ok()) return Fail(reply.status().message());
      if (!*reply) break;
      OnReply(std::move(**reply));
    }
  }
}

void RedisClient::OnReply(RespReply reply) {
  if (pending_.empty()) return Fail("a reply without a request");
  Pending first = std::move(pending_.front());
  pending_.pop_front();
  if (first.search && first.handler) timeouts_in_row_ = 0;
  if (first.handler) first.handler(std::move(reply));
}

void RedisClient::ArmTimer() {
  const auto next =
      std::find_if(pending_.begin(), pending_.end(), [](const Pending& p) { return p.search && p.handler; });
  if (next == pending_.end()) return;
  const auto left = std::chrono::ceil<milliseconds>(next->sent + options_.timeout - Clock::now());
  timer_ = loop_.After(std::max(left, milliseconds(0)), [this] {
    timer_ = 0;
    Expire();
  });
}

void RedisClient::Expire() {
  const Clock::time_point before = Clock::now() - options_.timeout;
  std::vector<Handler> expired;
  for (Pending& entry : pending_) {
    if (entry.sent > before) break;
    if (entry.search && entry.handler) expired.push_back(std::exchange(entry.handler, {}));
  }
  counts_.timeouts += expired.size();
  timeouts_in_row_ += static_cast<int>(std::min<size_t>(expired.size(), kMaxTimeouts));
  const bool give_up = timeouts_in_row_ >= kMaxTimeouts;
  if (give_up) Fail(StrCat("no answer within ", options_.timeout.count(), " ms"));
  for (const Handler& handler : expired) handler(IoError("no answer in time"));
  if (!give_up && timer_ == 0) ArmTimer();
}

void RedisClient::Close() {
  counts_.up = false;
  if (fd_ >= 0) {
    loop_.Remove(fd_, this);
    close(fd_);
  }
  fd_ = -1;
  connecting_ = writing_ = false;
  out_ = {};
  out_at_ = 0;
  reader_ = RespReader(kMaxBulk);
  loop_.Cancel(std::exchange(timer_, 0));
}

void RedisClient::Fail(const std::string& reason) {
  ++counts_.failures;
  Close();
  if (!std::exchange(told_, true))
    Log(LogLevel::kWarning,
        StrCat("cache: ", Place(), " is not usable: ", reason, "; requests are computed until it is back"));
  if (retry_timer_ == 0) {
    const auto spread =
        static_cast<int64_t>(random_() % 51) - 25;  // percent, so that servers do not return at once
    retry_timer_ = loop_.After(delay_ + delay_ * spread / 100, [this] { Resolve(); });
    delay_ = std::min(delay_ * 2, kLongestDelay);
  }
  std::deque<Pending> waiting;
  waiting.swap(pending_);
  for (const Pending& entry : waiting)
    if (entry.handler) entry.handler(IoError(reason));
}

}  // namespace tern::server
