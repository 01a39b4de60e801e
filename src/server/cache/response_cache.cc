#include "server/cache/response_cache.h"

namespace tern::server {
namespace {

std::string NameOf(const CacheKey& key) { return StrCat("tern:response:", key.Hex()); }

}  // namespace

Result<std::shared_ptr<ResponseCache>> ResponseCache::Create(const CacheOptions& options) {
  const auto cache = std::make_shared<ResponseCache>();
  if (options.local_bytes > 0) cache->local_ = std::make_unique<LocalCache>(options.local_bytes);
  cache->capacity_ = options.local_bytes;
  if (options.redis) TERN_TRY(cache->OpenRedis(*options.redis));
  return cache;
}

Status ResponseCache::OpenRedis(const RedisOptions& options) {
  auto redis = std::make_unique<Redis>();
  TERN_ASSIGN(redis->loops, Loops::Start(1));
  Loop& loop = redis->loops->at(0);
  redis->link = std::make_shared<LoopLink>(loop);
  redis->client = std::make_shared<RedisClient>(loop, redis->link, options, redis->counts);
  redis->link->Post([client = redis->client] { client->Start(); });
  redis_ = std::move(redis);
  return {};
}

void ResponseCache::Stop() {
  workers_.Stop();
  if (!redis_) return;
  redis_->link->Close();
  redis_->counts.up = false;
  redis_->loops.reset();
  redis_->client->Drop();
}

ResponseCache::Response ResponseCache::FindNow(const CacheKey& key) {
  return local_ ? local_->Find(key) : nullptr;
}

bool ResponseCache::FindLater(const CacheKey& key, std::function<void(Response)> found) {
  if (!redis_ || !redis_->counts.up.load(std::memory_order_relaxed)) return false;
  redis_->link->Post([this, client = redis_->client, key, found = std::move(found)] {
    client->Get(NameOf(key), [this, key, found](std::optional<std::string> bytes) {
      if (!bytes) return found(nullptr);
      auto response = Decode(*bytes);
      if (!response.ok()) {
        ++redis_->counts.failures;
        return found(nullptr);
      }
      if (local_) local_->Insert(key, *response);
      found(std::move(*response));
    });
  });
  return true;
}

void ResponseCache::Insert(const CacheKey& key, Response response) {
  if (local_) local_->Insert(key, response);
  if (!redis_) return;
  if (!redis_->counts.up.load(std::memory_order_relaxed)) {
    ++redis_->counts.dropped;
    return;
  }
  redis_->link->Post([client = redis_->client, key, response = std::move(response)] {
    client->Set(NameOf(key), Encode(*response));
  });
}

CacheFacts ResponseCache::Facts() const {
  CacheFacts facts;
  facts.has_local = local_ != nullptr;
  facts.capacity = capacity_;
  if (local_) facts.local = local_->Facts();
  if (!redis_) return facts;
  facts.has_redis = true;
  facts.redis_up = redis_->counts.up;
  facts.redis_found = redis_->counts.found;
  facts.redis_missed = redis_->counts.missed;
  facts.redis_timeouts = redis_->counts.timeouts;
  facts.redis_failures = redis_->counts.failures;
  facts.redis_dropped = redis_->counts.dropped;
  return facts;
}

}  // namespace tern::server
