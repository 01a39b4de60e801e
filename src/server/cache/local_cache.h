// Responses in the memory of the server.
#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "server/cache/cache_key.h"
#include "server/cache/cached_response.h"

namespace tern::server {

struct LocalCacheFacts {
  uint64_t bytes = 0, entries = 0, evicted = 0, too_large = 0;
};

// Thread-safe. Evicts by S3-FIFO (Yang et al., SOSP 2023): new entries enter a small queue that has a tenth
// of the memory. At its end, an entry that was found meanwhile moves to the main queue. Other entries are
// evicted, so that many requests that occur only once do not displace requests that repeat. Finding an entry
// only increments a counter.
class LocalCache {
 public:
  // A larger cache has more shards, each with its own lock and an equal part of the bytes.
  explicit LocalCache(size_t bytes);
  std::shared_ptr<const CachedResponse> Find(const CacheKey& key);
  // Replaces the entry if there is one. Ignores a response that is larger than half a shard.
  void Insert(const CacheKey& key, std::shared_ptr<const CachedResponse> response);
  LocalCacheFacts Facts() const;
  size_t shards() const { return shards_.size(); }

 private:
  struct Entry {
    CacheKey key;
    std::shared_ptr<const CachedResponse> response;
    size_t bytes = 0;
    int found = 0;  // at most kMaxFound
    bool main = false;
  };
  using Queue = std::list<Entry>;
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<CacheKey, Queue::iterator, CacheKeyHash> entries;
    Queue fresh, main;  // the newest entry is in front
    size_t fresh_bytes = 0, main_bytes = 0;
    // The keys that left the small queue last. An entry with such a key enters the main queue.
    std::list<CacheKey> ghost_order;  // the oldest key is in front
    std::unordered_map<CacheKey, std::list<CacheKey>::iterator, CacheKeyHash> ghosts;
    uint64_t evicted = 0, too_large = 0;
  };
  using Dropped = std::vector<std::shared_ptr<const CachedResponse>>;  // freed without the lock

  Shard& ShardOf(const CacheKey& key);
  void Remove(Shard& shard, Queue::iterator entry, Dropped& dropped);
  void EvictFresh(Shard& shard, Dropped& dropped);
  void EvictMain(Shard& shard, Dropped& dropped);
  static void Remember(Shard& shard, const CacheKey& key);
  static bool ForgetGhost(Shard& shard, const CacheKey& key);  // returns whether the shard remembered the key

  size_t shard_bytes_ = 0;
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace tern::server
