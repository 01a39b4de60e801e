// Writes the metrics of the response cache.
#include "server/observe/metrics_text.h"

namespace tern::server {
namespace {

struct CacheCounter {
  const char* name;
  const char* help;
  uint64_t (*value)(const StatisticsSnapshot&);
};

constexpr CacheCounter kCacheCounters[] = {
    {"nv_cache_num_hits_per_model", "Number of cache hits per model",
     [](const StatisticsSnapshot& s) { return s.cache_hit.count; }},
    {"nv_cache_num_misses_per_model", "Number of cache misses per model",
     [](const StatisticsSnapshot& s) { return s.cache_miss.count; }},
    {"nv_cache_hit_duration_per_model", "Total cache hit duration per model, in microseconds",
     [](const StatisticsSnapshot& s) { return s.cache_hit.ns / 1000; }},
    {"nv_cache_miss_duration_per_model",
     "Total cache miss duration per model, in microseconds (search and insertion)",
     [](const StatisticsSnapshot& s) { return s.cache_miss.ns / 1000; }},
};

void AppendLocal(const CacheFacts& facts, MetricsText& text) {
  const auto gauge = [&](const char* name, const char* help, uint64_t value) {
    text.Family(name, "gauge", help);
    text.Sample(name, {}, value);
  };
  gauge("tern_cache_bytes", "Bytes of the responses in the server's memory", facts.local.bytes);
  gauge("tern_cache_limit_bytes", "Limit on tern_cache_bytes", facts.capacity);
  gauge("tern_cache_entries", "Number of responses in the server's memory", facts.local.entries);
  text.Family("tern_cache_evicted_total", "counter", "Responses that were dropped to make room");
  text.Sample("tern_cache_evicted_total", {}, facts.local.evicted);
  text.Family("tern_cache_too_large_total", "counter", "Responses that are too large for the cache");
  text.Sample("tern_cache_too_large_total", {}, facts.local.too_large);
}

void AppendRedis(const CacheFacts& facts, MetricsText& text) {
  text.Family("tern_cache_redis_up", "gauge", "1 if Redis is usable");
  text.Sample("tern_cache_redis_up", {}, uint64_t{facts.redis_up});
  constexpr const char* kSearches = "tern_cache_redis_searches_total";
  text.Family(kSearches, "counter", "Searches in Redis by result");
  text.Sample(kSearches, {{"result", "hit"}}, facts.redis_found);
  text.Sample(kSearches, {{"result", "miss"}}, facts.redis_missed);
  text.Sample(kSearches, {{"result", "timeout"}}, facts.redis_timeouts);
  text.Family("tern_cache_redis_failures_total", "counter",
              "Connections to Redis that failed, and errors and damaged entries that it returned");
  text.Sample("tern_cache_redis_failures_total", {}, facts.redis_failures);
  text.Family("tern_cache_redis_dropped_total", "counter", "Responses that were not stored in Redis");
  text.Sample("tern_cache_redis_dropped_total", {}, facts.redis_dropped);
}

}  // namespace

void AppendCacheMetrics(const Versions& versions, const CacheFacts& facts, MetricsText& text) {
  for (const CacheCounter& counter : kCacheCounters) {
    text.Family(counter.name, "counter", counter.help);
    for (const auto& version : versions)
      if (version->config().response_cache)
        text.Sample(counter.name, LabelsOf(*version), counter.value(version->statistics().Snapshot()));
  }
  if (facts.has_local) AppendLocal(facts, text);
  if (facts.has_redis) AppendRedis(facts, text);
}

}  // namespace tern::server
