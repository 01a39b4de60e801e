#include "server/cache/cache_options.h"

namespace tern::server {
namespace {

constexpr int64_t kLeastBytes = 64 << 10, kMostBytes = int64_t{1} << 44;

Status ReadBytes(const std::string& text, size_t& out) {
  std::string number = text;
  int shift = 0;
  for (const auto& [suffix, bits] : {std::pair('K', 10), std::pair('M', 20), std::pair('G', 30)})
    if (!number.empty() && (number.back() == suffix || number.back() == suffix + 32)) {
      number.pop_back();
      shift = bits;
      break;
    }
  int64_t value = 0;
  if (!ParseInt(number, value) || value < 1 || value > (kMostBytes >> shift) ||
      (value << shift) < kLeastBytes)
    return InvalidArgument("size is '", text, "'; it must be a number of bytes from ", kLeastBytes, " to ",
                           kMostBytes, ", such as 64M");
  out = static_cast<size_t>(value << shift);
  return {};
}

template <class T>
Status ReadInteger(const std::string& key, const std::string& text, int64_t low, int64_t high, T& out) {
  int64_t value = 0;
  if (!ParseInt(text, value) || value < low || value > high)
    return InvalidArgument(key, " is '", text, "'; it must be from ", low, " to ", high);
  out = T(value);
  return {};
}

Status SetLocal(const std::string& key, const std::string& value, CacheOptions& options) {
  if (key == "size") return ReadBytes(value, options.local_bytes);
  return InvalidArgument("the cache 'local' has no setting '", key, "'; it has size");
}

Status SetRedis(const std::string& key, const std::string& value, RedisOptions& redis) {
  if (key == "host" && value.empty()) return InvalidArgument("host is empty");
  if (key == "host") return redis.host = value, Status();
  if (key == "port") return ReadInteger(key, value, 1, 65535, redis.port);
  if (key == "user" || key == "username") return redis.user = value, Status();
  if (key == "password") return redis.password = value, Status();
  if (key == "db") return ReadInteger(key, value, 0, 1'000'000, redis.db);
  if (key == "timeout_ms") return ReadInteger(key, value, 1, 60'000, redis.timeout);
  if (key == "ttl_s") return ReadInteger(key, value, 0, 1'000'000'000, redis.ttl);
  return InvalidArgument("the cache 'redis' has no setting '", key,
                         "'; it has host, port, user, password, db, timeout_ms and ttl_s");
}

}  // namespace

Status AddCache(const std::string& text, CacheOptions& options) {
  const size_t end = text.find_first_of(":,");
  const std::string kind = text.substr(0, end);
  const std::string rest = end == std::string::npos ? "" : text.substr(end + 1);
  if (kind != "local" && kind != "redis")
    return InvalidArgument("'", text, "' names no cache; a cache is 'local:size=64M' or 'redis:host=NAME'");
  if (kind == "local") options.local = true;
  if (kind == "redis" && !options.redis) options.redis.emplace();
  for (const std::string& part : SplitText(rest, ',')) {
    if (part.empty()) continue;
    const size_t equal = part.find('=');
    if (equal == std::string::npos) return InvalidArgument("'", part, "' is not of the form NAME=VALUE");
    const std::string key = part.substr(0, equal), value = part.substr(equal + 1);
    TERN_TRY(kind == "local" ? SetLocal(key, value, options) : SetRedis(key, value, *options.redis));
  }
  return {};
}

Status CheckCache(const CacheOptions& options) {
  if (options.local && options.local_bytes == 0)
    return InvalidArgument("the cache 'local' needs a size, such as local:size=64M");
  if (options.redis && !options.redis->user.empty() && options.redis->password.empty())
    return InvalidArgument("the cache 'redis' has a user without a password");
  return {};
}

}  // namespace tern::server
