// Tests of the connection to Redis.
#include <gtest/gtest.h>

#include "server/cache/fake_redis.h"
#include "server/cache/response_cache.h"
#include "server/core/eventually.h"
#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

using namespace std::chrono_literals;

CacheKey RedisKey(uint64_t number) {
  Digest digest;
  digest.Add(number);
  return digest.Finish();
}

ResponseCache::Response IntResponse(int32_t value) {
  Response response;
  response.outputs = {Ints("y", {1}, {value})};
  return Freeze(response);
}

std::shared_ptr<ResponseCache> Open(const FakeRedis& redis, std::chrono::milliseconds timeout = 2000ms) {
  CacheOptions options;
  options.redis.emplace();
  options.redis->host = "127.0.0.1";
  options.redis->port = redis.port();
  options.redis->password = redis.password();
  options.redis->timeout = timeout;
  auto cache = ResponseCache::Create(options);
  EXPECT_TRUE(cache.ok()) << cache.status().ToString();
  return *cache;
}

std::shared_ptr<ResponseCache> OpenReady(const FakeRedis& redis, std::chrono::milliseconds timeout = 2000ms) {
  auto cache = Open(redis, timeout);
  EXPECT_TRUE(Eventually([&] { return cache->Facts().redis_up; }));
  return cache;
}

// Returns the response, or null. `searched` tells whether Redis was asked.
ResponseCache::Response Find(ResponseCache& cache, const CacheKey& key, bool* searched = nullptr) {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    ResponseCache::Response response;
  };
  const auto state = std::make_shared<State>();
  const bool asked = cache.FindLater(key, [state](ResponseCache::Response response) {
    const std::lock_guard lock(state->mutex);
    EXPECT_FALSE(state->done) << "two results";
    state->done = true;
    state->response = std::move(response);
    state->changed.notify_all();
  });
  if (searched) *searched = asked;
  if (!asked) return nullptr;
  std::unique_lock lock(state->mutex);
  EXPECT_TRUE(state->changed.wait_for(lock, 20s, [&] { return state->done; }));
  return state->response;
}

TEST(Resp, ReadsRepliesInAnyParts) {
  const std::string bytes = "+OK\r\n-ERR no\r\n:12\r\n$3\r\na\r\n\r\n$0\r\n\r\n$-1\r\n";
  using Kind = RespReply::Kind;
  const std::vector<std::pair<Kind, std::string>> expected = {
      {Kind::kText, "OK"},    {Kind::kError, "ERR no"}, {Kind::kInteger, "12"},
      {Kind::kBulk, "a\r\n"}, {Kind::kBulk, ""},        {Kind::kNull, ""}};
  for (size_t step = 1; step <= bytes.size(); ++step) {
    RespReader reader(100);
    std::vector<std::pair<Kind, std::string>> replies;
    for (size_t at = 0; at < bytes.size(); at += step) {
      reader.Feed(std::string_view(bytes).substr(at, step));
      for (;;) {
        auto reply = reader.Next();
        ASSERT_TRUE(reply.ok());
        if (!*reply) break;
        replies.emplace_back((*reply)->kind, (*reply)->text);
      }
    }
    EXPECT_EQ(replies, expected) << "parts of " << step << " bytes";
  }
}

TEST(Resp, RefusesOtherBytes) {
  for (const char* bytes : {"\r\n", "x\r\n", "*1\r\n", "$x\r\n", "$101\r\n", "$-2\r\n", "$1\r\nabcd\r\n"}) {
    RespReader reader(100);
    reader.Feed(bytes);
    EXPECT_FALSE(reader.Next().ok()) << bytes;
  }
  RespReader reader(100);
  reader.Feed(std::string(100'000, '+'));
  EXPECT_FALSE(reader.Next().ok());
}

TEST(Redis, StoresAndFinds) {
  FakeRedis redis;
  const auto cache = OpenReady(redis);
  EXPECT_EQ(Find(*cache, RedisKey(1)), nullptr);
  cache->Insert(RedisKey(1), IntResponse(7));
  ASSERT_TRUE(Eventually([&] { return redis.entries() == 1; }));
  const auto found = Find(*cache, RedisKey(1));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(ToInts(found->outputs[0]), std::vector<int32_t>{7});
  EXPECT_EQ(cache->Facts().redis_found, 1u);
  EXPECT_EQ(cache->Facts().redis_missed, 1u);
  // Another server finds it too.
  EXPECT_NE(Find(*OpenReady(redis), RedisKey(1)), nullptr);
}

TEST(Redis, LargeEntriesAndManySearchesAtOnce) {
  FakeRedis redis;
  const auto cache = OpenReady(redis, 20s);
  Response large;
  large.outputs.push_back({"y", DType::kU8, {8 << 20}, Buffer::Allocate(8 << 20)});
  cache->Insert(RedisKey(0), Freeze(large));
  for (int i = 1; i <= 200; ++i) cache->Insert(RedisKey(static_cast<uint64_t>(i)), IntResponse(i));
  ASSERT_TRUE(Eventually([&] { return redis.entries() == 201; }));
  std::atomic<int> found{0}, ended{0};
  for (uint64_t i = 0; i < 300; ++i)
    cache->FindLater(RedisKey(i), [&](const ResponseCache::Response& response) {
      found += response != nullptr;
      ++ended;
    });
  ASSERT_TRUE(Eventually([&] { return ended == 300; }));
  EXPECT_EQ(found, 201);
}

TEST(Redis, APasswordIsSent) {
  FakeRedis redis;
  redis.RequirePassword("secret");
  EXPECT_EQ(Find(*OpenReady(redis), RedisKey(1)), nullptr);
}

TEST(Redis, GoneAndBack) {
  FakeRedis redis;
  const int port = redis.port();
  const auto cache = OpenReady(redis);
  cache->Insert(RedisKey(1), IntResponse(7));
  ASSERT_TRUE(Eventually([&] { return redis.entries() == 1; }));
  redis.Stop();
  ASSERT_TRUE(Eventually([&] { return !cache->Facts().redis_up; }));
  bool searched = true;
  EXPECT_EQ(Find(*cache, RedisKey(1), &searched), nullptr);
  EXPECT_FALSE(searched) << "nobody waits for a Redis that is gone";
  cache->Insert(RedisKey(2), IntResponse(8));
  EXPECT_EQ(cache->Facts().redis_dropped, 1u);
  redis.Start(port);
  ASSERT_TRUE(Eventually([&] { return cache->Facts().redis_up; }));
  EXPECT_NE(Find(*cache, RedisKey(1)), nullptr);
}

TEST(Redis, NotThereAtTheStart) {
  FakeRedis redis;
  const int port = redis.port();
  redis.Stop();
  const auto cache = Open(redis);
  ASSERT_TRUE(Eventually([&] { return cache->Facts().redis_failures > 0; }));
  bool searched = true;
  EXPECT_EQ(Find(*cache, RedisKey(1), &searched), nullptr);
  EXPECT_FALSE(searched);
  redis.Start(port);
  EXPECT_TRUE(Eventually([&] { return cache->Facts().redis_up; }));
}

TEST(Redis, ASlowAnswerIsNotAwaited) {
  FakeRedis redis;
  const auto cache = OpenReady(redis, 20ms);
  redis.delay_ms = 300;
  const auto begin = Clock::now();
  EXPECT_EQ(Find(*cache, RedisKey(1)), nullptr);
  EXPECT_LT(Clock::now() - begin, 250ms);
  EXPECT_EQ(cache->Facts().redis_timeouts, 1u);
  EXPECT_TRUE(cache->Facts().redis_up) << "one slow answer does not end the connection";
}

TEST(Redis, ASilentServerIsGivenUp) {
  FakeRedis redis;
  const auto cache = OpenReady(redis, 10ms);
  redis.silent = true;
  for (int i = 0; i < 20 && cache->Facts().redis_up; ++i) EXPECT_EQ(Find(*cache, RedisKey(1)), nullptr);
  EXPECT_FALSE(cache->Facts().redis_up);
  EXPECT_LE(cache->Facts().redis_timeouts, 6u);
  redis.silent = false;
  EXPECT_TRUE(Eventually([&] { return cache->Facts().redis_up; }));
}

TEST(Redis, NonsenseEndsTheConnection) {
  FakeRedis redis;
  const auto cache = OpenReady(redis);
  redis.nonsense = true;
  EXPECT_EQ(Find(*cache, RedisKey(1)), nullptr);
  EXPECT_GE(cache->Facts().redis_failures, 1u);
  redis.nonsense = false;
  ASSERT_TRUE(Eventually([&] { return cache->Facts().redis_up; }));
  EXPECT_GE(redis.accepted, 2);
}

TEST(Redis, DamagedEntriesAndErrorsAreMisses) {
  FakeRedis redis;
  const auto cache = OpenReady(redis);
  cache->Insert(RedisKey(1), IntResponse(7));
  ASSERT_TRUE(Eventually([&] { return redis.entries() == 1; }));
  redis.Damage();
  EXPECT_EQ(Find(*cache, RedisKey(1)), nullptr);
  EXPECT_EQ(cache->Facts().redis_failures, 1u);
  redis.read_only = true;
  cache->Insert(RedisKey(2), IntResponse(7));
  ASSERT_TRUE(Eventually([&] { return cache->Facts().redis_failures == 2; }));
  EXPECT_TRUE(cache->Facts().redis_up);
}

TEST(Redis, StopsWhileSearchesWait) {
  FakeRedis redis;
  const auto cache = OpenReady(redis, 60s);
  redis.silent = true;
  const auto destroyed = std::make_shared<int>();
  for (uint64_t i = 0; i < 10; ++i) cache->FindLater(RedisKey(i), [destroyed](const auto&) { FAIL(); });
  cache->Stop();
  EXPECT_EQ(destroyed.use_count(), 1);
  EXPECT_FALSE(cache->FindLater(RedisKey(1), [](const auto&) {}));
}

}  // namespace
}  // namespace tern::server
