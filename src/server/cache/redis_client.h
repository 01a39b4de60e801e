// One connection to Redis, which is opened again when it fails.
#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "server/cache/cache_options.h"
#include "server/cache/resp.h"
#include "server/core/worker_threads.h"
#include "server/net/loop_link.h"

namespace tern::server {

// Thread-safe counts of a client.
struct RedisCounts {
  std::atomic<bool> up{false};
  std::atomic<uint64_t> found{0}, missed{0};
  std::atomic<uint64_t> timeouts{0};  // searches that Redis did not answer in time
  std::atomic<uint64_t> failures{0};  // broken or refused connections, errors from Redis, damaged entries
  std::atomic<uint64_t> dropped{0};   // entries not stored: Redis is gone, is slow, or returned an error
};

// Used only on the thread of its loop. No function blocks: names are resolved on another thread.
// While there is no usable connection, Get calls back at once, without a value.
class RedisClient : public Watcher {
 public:
  using Found = std::function<void(std::optional<std::string>)>;

  RedisClient(Loop& loop, std::shared_ptr<LoopLink> link, RedisOptions options, RedisCounts& counts);
  ~RedisClient() override;

  void Start();
  // Calls `found` once, at the latest after options.timeout.
  void Get(std::string_view key, Found found);
  void Set(std::string_view key, std::string_view value);
  // Destroys the callbacks of searches that wait. Called after the loop has ended.
  void Drop() { pending_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;
  using Handler = std::function<void(Result<RespReply>)>;
  struct Pending {
    Handler handler;  // empty: nobody waits for the reply any more
    Clock::time_point sent;
    bool search = false;
  };
  struct Addresses;

  void OnEvents(bool readable, bool writable, bool hang_up) override;
  void Resolve();
  void Connect(const std::shared_ptr<Addresses>& addresses);
  void TryNext(std::string reason);
  void Await();
  void OnConnected();
  void Send(const std::vector<std::string_view>& words, Handler handler, bool search);
  void Flush();
  void Read();
  void OnReply(RespReply reply);
  void Expire();  // ends the searches that are too old
  void ArmTimer();
  void Fail(const std::string& reason);  // closes the connection; the next one is opened later
  void Close();
  std::string Place() const;

  Loop& loop_;
  const std::shared_ptr<LoopLink> link_;
  const RedisOptions options_;
  RedisCounts& counts_;
  WorkerThreads resolver_{1};
  int fd_ = -1;
  bool connecting_ = false, writing_ = false;
  bool told_ = false;  // the log says that Redis is gone
  std::string out_;
  size_t out_at_ = 0;
  RespReader reader_;
  std::deque<Pending> pending_;  // in the order of the commands
  int timeouts_in_row_ = 0;
  uint64_t timer_ = 0;  // of the searches, or of the connection attempt
  uint64_t retry_timer_ = 0;
  std::shared_ptr<Addresses> addresses_;
  size_t next_ = 0;  // the address that is tried next
  std::chrono::milliseconds delay_;
  std::mt19937 random_{std::random_device{}()};
};

}  // namespace tern::server
