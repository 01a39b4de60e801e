#include "server/net/listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <unordered_map>

#include "server/net/sockets.h"
#include "server/net/tls.h"

namespace tern::server {
namespace {

constexpr std::chrono::milliseconds kPause{100};  // when the system has no descriptors or memory

// Counts connections; Drain waits for zero.
struct Count {
  std::atomic<size_t> value{0};
  std::mutex mutex;
  std::condition_variable zero;

  void Release() {
    if (value.fetch_sub(1) != 1) return;
    const std::lock_guard lock(mutex);
    zero.notify_all();
  }
};

// Accepts connections on one loop, and owns them. Used only on the loop's thread.
class Acceptor : public Watcher, public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(Loop& loop, int fd, const ListenOptions& options, std::shared_ptr<TlsContext> tls,
           const ConnectionFactory& factory, std::shared_ptr<Count> count)
      : loop_(loop),
        fd_(fd),
        limit_(options.connections),
        tls_(std::move(tls)),
        factory_(factory),
        count_(std::move(count)),
        spare_(open("/dev/null", O_RDONLY | O_CLOEXEC)) {}
  ~Acceptor() override {
    if (fd_ >= 0) close(fd_);
    if (spare_ >= 0) close(spare_);
  }

  Loop& loop() { return loop_; }
  Status Start() { return loop_.Add(fd_, this, true, false); }
  void OnEvents(bool, bool, bool) override;
  void StopAccepting();
  void Drain();
  bool busy() const;
  void CloseAll();

 private:
  bool Accept();
  void Open(int fd);
  void Erase(uint64_t id);
  bool RefuseOne();
  void Pause();

  Loop& loop_;
  int fd_;
  const size_t limit_;
  const std::shared_ptr<TlsContext> tls_;
  const ConnectionFactory factory_;
  const std::shared_ptr<Count> count_;
  int spare_;  // an open descriptor that RefuseOne closes to be able to accept
  uint64_t next_ = 0;
  bool draining_ = false;
  std::unordered_map<uint64_t, std::shared_ptr<Connection>> connections_;
};

void Acceptor::OnEvents(bool, bool, bool) {
  // Accepts at most 16 connections per event, so that open connections are served too.
  for (int i = 0; i < 16 && Accept(); ++i) {
  }
}

bool Acceptor::Accept() {
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    Open(fd);
    return true;
  }
  const int error = errno;
  const bool none_left = error == EMFILE || error == ENFILE;
  if ((none_left && !RefuseOne()) || error == ENOBUFS || error == ENOMEM) Pause();
  return error == EINTR || error == ECONNABORTED;
}

// Closes one waiting connection. Without a descriptor, the server cannot accept it, and its event would be
// raised forever. Returns false if the connection cannot be closed.
bool Acceptor::RefuseOne() {
  if (spare_ >= 0) close(spare_);
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) close(fd);
  spare_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return fd >= 0;
}

// Accepts nothing for a moment.
void Acceptor::Pause() {
  loop_.Remove(fd_, this);
  loop_.After(kPause, [self = weak_from_this()] {
    const auto acceptor = self.lock();
    if (!acceptor || acceptor->fd_ < 0) return;
    if (!acceptor->Start().ok()) acceptor->Pause();
  });
}

// A client whose machine failed never closes its connection. Probes end such a connection, so that it does
// not count forever.
void KeepAlive(int fd) {
  const int one = 1, idle = 60, interval = 15, probes = 4;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

void Acceptor::Open(int fd) {
  if (count_->value.fetch_add(1) >= limit_) {
    close(fd);
    count_->Release();
    return;
  }
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  KeepAlive(fd);
  auto stream = tls_ ? tls_->MakeStream(fd) : MakePlainStream(fd);
  const uint64_t id = next_++;
  std::shared_ptr<Connection> connection;
  if (stream) {
    // The entry is made first, because `done` may be called before the factory returns.
    connections_[id] = nullptr;
    connection = factory_(loop_, std::move(stream), [self = weak_from_this(), id] {
      if (auto acceptor = self.lock()) acceptor->Erase(id);
    });
    const auto place = connections_.find(id);
    if (place == connections_.end()) return;
    if (connection)
      place->second = connection;
    else
      Erase(id);
  } else {
    count_->Release();
  }
  if (connection && draining_) connection->Drain();
}

// A connection calls Erase from one of its functions, so the connection is destroyed later, by a posted
// function.
void Acceptor::Erase(uint64_t id) {
  auto found = connections_.extract(id);
  if (!found) return;
  count_->Release();
  if (found.mapped()) loop_.Post([connection = std::move(found.mapped())]() mutable { connection.reset(); });
}

// Accepts the connections that wait in the system's queue, because closing the socket would reset them.
void Acceptor::StopAccepting() {
  if (fd_ < 0) return;
  while (Accept()) {
  }
  loop_.Remove(fd_, this);
  close(fd_);
  fd_ = -1;
}

void Acceptor::Drain() {
  draining_ = true;
  StopAccepting();
  std::vector<std::shared_ptr<Connection>> all;
  for (auto& [id, connection] : connections_)
    if (connection) all.push_back(connection);
  for (auto& connection : all) connection->Drain();
}

bool Acceptor::busy() const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const auto& entry) { return entry.second && entry.second->busy(); });
}

void Acceptor::CloseAll() {
  if (fd_ >= 0) {
    loop_.Remove(fd_, this);
    close(fd_);
    fd_ = -1;
  }
  auto all = std::move(connections_);
  connections_.clear();
  for (size_t i = 0; i < all.size(); ++i) count_->Release();
}

// Runs a function on a loop and returns when it has run, or when the loop has dropped it.
void RunOn(Loop& loop, std::function<void()> function) {
  if (loop.OnThread()) return function();
  struct Latch {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
  };
  auto latch = std::make_shared<Latch>();
  // The deleter runs after the function, and also if the function is dropped.
  std::shared_ptr<void> signal(nullptr, [latch](void*) {
    const std::lock_guard lock(latch->mutex);
    latch->open = true;
    latch->changed.notify_all();
  });
  // `signal` is captured first, so that it is destroyed after `function`.
  loop.Post([signal = std::move(signal), function = std::move(function)] { function(); });
  std::unique_lock lock(latch->mutex);
  latch->changed.wait(lock, [&] { return latch->open; });
}

}  // namespace

struct Listener::State {
  std::vector<std::shared_ptr<Acceptor>> acceptors;
  std::shared_ptr<Count> count = std::make_shared<Count>();
  int port = 0;
  std::string unix_path;
  bool accepting = true;

  void RemovePath() {
    if (accepting && !unix_path.empty()) unlink(unix_path.c_str());
    accepting = false;
  }
};

Listener::Listener(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Listener>> Listener::Start(Loops& loops, const ListenOptions& options,
                                                  ConnectionFactory factory) {
  std::shared_ptr<TlsContext> tls;
  if (!options.tls.certificate.empty()) {
    TERN_ASSIGN(tls, TlsContext::Create(options.tls, options.alpn));
  }
  TERN_ASSIGN(ListenSockets sockets, OpenListenSockets(options.address, options.port, loops.count()));
  auto state = std::make_shared<State>();
  state->port = sockets.port;
  state->unix_path = sockets.unix_path;
  for (int i = 0; i < loops.count(); ++i)
    state->acceptors.push_back(std::make_shared<Acceptor>(loops.at(i), sockets.fds[static_cast<size_t>(i)],
                                                          options, tls, factory, state->count));
  std::unique_ptr<Listener> listener(new Listener(state));
  for (auto& acceptor : state->acceptors) {
    Status status;
    RunOn(acceptor->loop(), [&] { status = acceptor->Start(); });
    TERN_TRY(std::move(status));
  }
  return listener;
}

Listener::~Listener() {
  state_->RemovePath();
  for (auto& acceptor : state_->acceptors) RunOn(acceptor->loop(), [acceptor] { acceptor->CloseAll(); });
}

int Listener::port() const { return state_->port; }
size_t Listener::connections() const { return state_->count->value.load(); }

bool Listener::Drain(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  state_->RemovePath();
  for (auto& acceptor : state_->acceptors) RunOn(acceptor->loop(), [acceptor] { acceptor->Drain(); });
  {
    Count& count = *state_->count;
    std::unique_lock lock(count.mutex);
    if (count.zero.wait_until(lock, end, [&] { return count.value.load() == 0; })) return true;
  }
  std::atomic<bool> busy{false};
  for (auto& acceptor : state_->acceptors) RunOn(acceptor->loop(), [&] { busy = busy || acceptor->busy(); });
  return !busy;
}

}  // namespace tern::server
