// The response cache of a server: in its memory, in Redis, or both.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "server/cache/cache_options.h"
#include "server/cache/local_cache.h"
#include "server/cache/redis_client.h"

namespace tern::server {

struct CacheFacts {
  bool has_local = false, has_redis = false;
  LocalCacheFacts local;
  uint64_t capacity = 0;  // bytes of the local cache
  bool redis_up = false;
  uint64_t redis_found = 0, redis_missed = 0, redis_timeouts = 0, redis_failures = 0, redis_dropped = 0;
};

// Thread-safe. With both, a response that is not in memory is searched in Redis. If Redis has it, it is also
// kept in memory. Only a thread of the cache uses Redis, so no other thread waits for Redis.
class ResponseCache {
 public:
  using Response = std::shared_ptr<const CachedResponse>;  // null: not found

  static Result<std::shared_ptr<ResponseCache>> Create(const CacheOptions& options);
  ~ResponseCache() { Stop(); }
  // Ends the connection to Redis. Searches that wait are dropped, and their callbacks are destroyed without
  // being called. Must not be called on the thread of the cache.
  void Stop();

  // Searches in memory.
  Response FindNow(const CacheKey& key);
  // Searches in Redis. Calls `found` once, on the thread of the cache. Returns false, and drops `found`, if
  // there is no Redis or it is not usable now.
  bool FindLater(const CacheKey& key, std::function<void(Response)> found);
  void Insert(const CacheKey& key, Response response);
  // True if other servers use the same entries. Then keys must not depend on this process.
  bool shared() const { return redis_ != nullptr; }
  CacheFacts Facts() const;
  // Threads for what takes too long on an event loop.
  WorkerThreads& workers() { return workers_; }

 private:
  struct Redis {
    RedisCounts counts;
    std::unique_ptr<Loops> loops;
    std::shared_ptr<LoopLink> link;
    std::shared_ptr<RedisClient> client;  // used on the loop
  };
  Status OpenRedis(const RedisOptions& options);

  std::unique_ptr<LocalCache> local_;
  uint64_t capacity_ = 0;
  std::unique_ptr<Redis> redis_;
  WorkerThreads workers_{2};
};

}  // namespace tern::server
