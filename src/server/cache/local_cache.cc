#include "server/cache/local_cache.h"

#include <algorithm>
#include <bit>

namespace tern::server {
namespace {

constexpr size_t kShardBytes = size_t{16} << 20;
constexpr size_t kMaxShards = 16;
constexpr int kMaxFound = 3;
constexpr size_t kFreshPart = 10;  // the small queue has 1/10 of the memory

}  // namespace

LocalCache::LocalCache(size_t bytes) {
  const size_t count = std::bit_floor(std::clamp<size_t>(bytes / kShardBytes, 1, kMaxShards));
  shard_bytes_ = bytes / count;
  for (size_t i = 0; i < count; ++i) shards_.push_back(std::make_unique<Shard>());
}

// The hash table uses the first bytes of the key, so another byte selects the shard.
LocalCache::Shard& LocalCache::ShardOf(const CacheKey& key) {
  return *shards_[key.bytes.back() % shards_.size()];
}

std::shared_ptr<const CachedResponse> LocalCache::Find(const CacheKey& key) {
  Shard& shard = ShardOf(key);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.entries.find(key);
  if (found == shard.entries.end()) return nullptr;
  Entry& entry = *found->second;
  entry.found = std::min(entry.found + 1, kMaxFound);
  return entry.response;
}

void LocalCache::Insert(const CacheKey& key, std::shared_ptr<const CachedResponse> response) {
  const size_t bytes = response->bytes();
  Dropped dropped;
  Shard& shard = ShardOf(key);
  const std::lock_guard lock(shard.mutex);
  if (bytes > shard_bytes_ / 2) {
    ++shard.too_large;
    return;
  }
  if (const auto old = shard.entries.find(key); old != shard.entries.end())
    Remove(shard, old->second, dropped);
  while (shard.fresh_bytes + shard.main_bytes + bytes > shard_bytes_) {
    const bool fresh = shard.main.empty() || shard.fresh_bytes > shard_bytes_ / kFreshPart;
    fresh ? EvictFresh(shard, dropped) : EvictMain(shard, dropped);
  }
  const bool main = ForgetGhost(shard, key);
  Queue& queue = main ? shard.main : shard.fresh;
  queue.push_front({key, std::move(response), bytes, 0, main});
  (main ? shard.main_bytes : shard.fresh_bytes) += bytes;
  shard.entries[key] = queue.begin();
}

void LocalCache::Remove(Shard& shard, Queue::iterator entry, Dropped& dropped) {
  (entry->main ? shard.main_bytes : shard.fresh_bytes) -= entry->bytes;
  shard.entries.erase(entry->key);
  dropped.push_back(std::move(entry->response));
  (entry->main ? shard.main : shard.fresh).erase(entry);
}

void LocalCache::EvictFresh(Shard& shard, Dropped& dropped) {
  const auto oldest = std::prev(shard.fresh.end());
  if (oldest->found == 0) {
    Remember(shard, oldest->key);
    ++shard.evicted;
    return Remove(shard, oldest, dropped);
  }
  oldest->found = 0;
  oldest->main = true;
  shard.fresh_bytes -= oldest->bytes;
  shard.main_bytes += oldest->bytes;
  shard.main.splice(shard.main.begin(), shard.fresh, oldest);
}

void LocalCache::EvictMain(Shard& shard, Dropped& dropped) {
  const auto oldest = std::prev(shard.main.end());
  if (oldest->found == 0) {
    ++shard.evicted;
    return Remove(shard, oldest, dropped);
  }
  --oldest->found;
  shard.main.splice(shard.main.begin(), shard.main, oldest);
}

// Remembers at most as many keys as the shard has entries, or 16 if that is more.
void LocalCache::Remember(Shard& shard, const CacheKey& key) {
  ForgetGhost(shard, key);
  shard.ghosts[key] = shard.ghost_order.insert(shard.ghost_order.end(), key);
  const size_t limit = std::max<size_t>(16, shard.entries.size());
  while (shard.ghosts.size() > limit) {
    shard.ghosts.erase(shard.ghost_order.front());
    shard.ghost_order.pop_front();
  }
}

bool LocalCache::ForgetGhost(Shard& shard, const CacheKey& key) {
  const auto ghost = shard.ghosts.find(key);
  if (ghost == shard.ghosts.end()) return false;
  shard.ghost_order.erase(ghost->second);
  shard.ghosts.erase(ghost);
  return true;
}

LocalCacheFacts LocalCache::Facts() const {
  LocalCacheFacts facts;
  for (const auto& shard : shards_) {
    const std::lock_guard lock(shard->mutex);
    facts.bytes += shard->fresh_bytes + shard->main_bytes;
    facts.entries += shard->entries.size();
    facts.evicted += shard->evicted;
    facts.too_large += shard->too_large;
  }
  return facts;
}

}  // namespace tern::server
