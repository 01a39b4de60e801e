// The setting --cache.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"

namespace tern::server {

struct RedisOptions {
  std::string host = "localhost";
  int port = 6379;
  std::string user, password;  // no password: the connection is not authenticated
  int db = 0;
  std::chrono::milliseconds timeout{50};  // a search that takes longer finds nothing
  std::chrono::seconds ttl{0};            // after this time, Redis drops an entry; 0: never
};

struct CacheOptions {
  bool local = false;
  size_t local_bytes = 0;  // the limit of the cache in the memory of the server
  std::optional<RedisOptions> redis;
  bool enabled() const { return local || redis; }
};

// Adds a cache: "local:size=64M" or "redis:host=H,port=N,password=P,…". Triton's form has a comma instead of
// the colon, and one setting per text: "redis,host=H", "redis,port=N". Settings of the same cache are joined.
Status AddCache(const std::string& text, CacheOptions& options);
// Fails if a cache lacks a setting. Called after the last AddCache.
Status CheckCache(const CacheOptions& options);

}  // namespace tern::server
