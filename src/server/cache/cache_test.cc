// Tests of the key, the entries, the memory and the setting of the response cache.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <thread>

#include "server/cache/cache_options.h"
#include "server/cache/local_cache.h"
#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

Request Sample() {
  Request request;
  request.inputs = {Ints("a", {2}, {1, 2}), Ints("b", {2}, {3, 4})};
  request.outputs = {{"y", 0}, {"z", 2}};
  request.parameters = {{"p", int64_t{1}}, {"q", std::string("text")}};
  return request;
}

CacheKey Key(const Request& request) { return KeyOf("id", true, request); }

std::shared_ptr<const CachedResponse> ResponseOf(size_t bytes) {
  Response response;
  response.outputs.push_back({"y", DType::kU8, {static_cast<int64_t>(bytes)}, Buffer::Allocate(bytes)});
  return Freeze(response);
}

CacheKey NumberKey(uint64_t number) {
  Digest digest;
  digest.Add(number);
  return digest.Finish();
}

TEST(CacheKey, IsSha256) {
  Digest digest;
  digest.AddRaw("abc", 3);
  EXPECT_EQ(digest.Finish().Hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // Parts that are longer than the digest's buffer, and the digest used again.
  digest.AddRaw(std::string(1'000'000, 'a').data(), 1'000'000);
  EXPECT_EQ(digest.Finish().Hex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(CacheKey, DependsOnEverythingThatAResponseDependsOn) {
  const std::vector<std::function<void(Request&)>> changes = {
      [](Request& r) {
        r.inputs[0] = Ints("a", {2}, {1, 3});
      },
      [](Request& r) {
        r.inputs[0].dims = {1, 2};
      },
      [](Request& r) { r.inputs[0].dtype = DType::kU32; },
      [](Request& r) { r.inputs[0].name = "c"; },
      [](Request& r) { std::swap(r.inputs[0].bytes, r.inputs[1].bytes); },
      [](Request& r) { r.inputs.pop_back(); },
      [](Request& r) { r.outputs[0].name = "x"; },
      [](Request& r) { r.outputs[1].classification = 3; },
      [](Request& r) { std::swap(r.outputs[0], r.outputs[1]); },
      [](Request& r) { r.outputs.clear(); },
      [](Request& r) { r.parameters[0].second = int64_t{2}; },
      [](Request& r) { r.parameters[0].second = true; },
      [](Request& r) { r.parameters[0].second = 1.0; },
      [](Request& r) { r.parameters[1].second = std::string("texts"); },
      [](Request& r) { r.parameters.pop_back(); },
      [](Request& r) { r.readable = true; },
      [](Request& r) { r.signature = "other"; },
  };
  std::set<std::string> keys{Key(Sample()).Hex(), KeyOf("other id", true, Sample()).Hex()};
  for (const auto& change : changes) {
    Request request = Sample();
    change(request);
    EXPECT_TRUE(keys.insert(Key(request).Hex()).second) << "change " << &change - changes.data();
  }
}

TEST(CacheKey, IgnoresWhatAResponseDoesNotDependOn) {
  const CacheKey key = Key(Sample());
  Request request = Sample();
  request.id = "7";
  request.priority = 3;
  request.timeout = std::chrono::seconds(1);
  request.trace.trace_id = "x";
  request.arrived = Clock::now();
  std::swap(request.inputs[0], request.inputs[1]);
  std::swap(request.parameters[0], request.parameters[1]);
  EXPECT_EQ(Key(request), key);
  EXPECT_EQ(KeyOf("id", false, Sample()), KeyOf("id", false, [] {
              Request r = Sample();
              r.parameters.clear();
              return r;
            }()));
  Request readable = Sample();
  readable.readable = true;
  const CacheKey without_id = Key(readable);
  readable.id = "7";
  EXPECT_NE(Key(readable), without_id) << "the text of a readable response contains the id";
}

TEST(CachedResponse, OwnsItsBytesAndSharesThem) {
  const Buffer batch = Buffer::Allocate(1 << 20);
  Response response;
  response.outputs.push_back({"y", DType::kI32, {2}, batch.Slice(64, 8)});
  response.outputs.push_back({"e", DType::kI32, {0}, Buffer()});
  response.parameters = {{"p", 1.5}};
  const auto frozen = Freeze(response);
  EXPECT_FALSE(frozen->outputs[0].bytes.SharesWith(batch));
  EXPECT_LT(frozen->bytes(), 1000u);
  const Response one = frozen->ToResponse(), two = frozen->ToResponse();
  EXPECT_EQ(one.outputs[0].bytes.data(), two.outputs[0].bytes.data());
  EXPECT_TRUE(one.final);
  EXPECT_EQ(one.parameters, response.parameters);
}

TEST(CachedResponse, EncodesAndDecodes) {
  Response response;
  response.outputs = {Ints("y", {1, 2}, {5, 6}), Strings("s", {2}, {"", "two"})};
  response.text = "{}";
  response.parameters = {{"b", true}, {"i", int64_t{-5}}, {"d", 2.5}, {"t", std::string("x")}};
  const std::string bytes = Encode(*Freeze(response));
  const auto decoded = Decode(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_EQ((*decoded)->parameters, response.parameters);
  EXPECT_EQ((*decoded)->text, "{}");
  ASSERT_EQ((*decoded)->outputs.size(), 2u);
  EXPECT_EQ(ToInts((*decoded)->outputs[0]), (std::vector<int32_t>{5, 6}));
  EXPECT_EQ((*decoded)->outputs[1].dims, (Dims{2}));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(Decode(bytes.substr(0, size)).ok()) << size << " bytes";
  EXPECT_FALSE(Decode(bytes + "x").ok());
}

TEST(CachedResponse, RefusesDamagedEntries) {
  Response response;
  response.outputs = {Ints("y", {1, 2}, {5, 6}), Strings("s", {1}, {"text"})};
  const std::string bytes = Encode(*Freeze(response));
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    const auto decoded = Decode(damaged);  // must not crash; an entry that passes is consistent
    if (!decoded.ok()) continue;
    for (const WireTensor& output : (*decoded)->outputs)
      EXPECT_TRUE(output.dtype == DType::kString ||
                  BytesOf(output.dtype, static_cast<size_t>(CountOf(output.dims))) == output.bytes.size());
  }
}

TEST(LocalCache, FindsWhatWasInserted) {
  LocalCache cache(1 << 20);
  EXPECT_EQ(cache.Find(NumberKey(1)), nullptr);
  const auto response = ResponseOf(100);
  cache.Insert(NumberKey(1), response);
  EXPECT_EQ(cache.Find(NumberKey(1)), response);
  EXPECT_EQ(cache.Find(NumberKey(2)), nullptr);
  const auto newer = ResponseOf(200);
  cache.Insert(NumberKey(1), newer);
  EXPECT_EQ(cache.Find(NumberKey(1)), newer);
  EXPECT_EQ(cache.Facts().entries, 1u);
  EXPECT_EQ(cache.Facts().bytes, newer->bytes());
}

TEST(LocalCache, StaysWithinItsBytes) {
  constexpr size_t kBytes = 1 << 20;
  LocalCache cache(kBytes);
  std::mt19937 random(1);
  for (uint64_t i = 0; i < 5000; ++i) {
    cache.Insert(NumberKey(i), ResponseOf(random() % 20'000));
    if (i % 3 == 0) cache.Find(NumberKey(random() % (i + 1)));
    ASSERT_LE(cache.Facts().bytes, kBytes);
  }
  EXPECT_GT(cache.Facts().bytes, kBytes / 2);
  EXPECT_EQ(cache.Facts().entries + cache.Facts().evicted, 5000u);
  cache.Insert(NumberKey(9999), ResponseOf(kBytes / 2));
  EXPECT_EQ(cache.Facts().too_large, 1u);
  EXPECT_EQ(cache.Find(NumberKey(9999)), nullptr);
}

TEST(LocalCache, AScanDoesNotDisplaceWhatIsUsed) {
  LocalCache cache(1 << 20);
  constexpr uint64_t kUsed = 100;
  for (int round = 0; round < 3; ++round)
    for (uint64_t i = 0; i < kUsed; ++i)
      if (!cache.Find(NumberKey(i))) cache.Insert(NumberKey(i), ResponseOf(4000));
  for (uint64_t i = 0; i < 10'000; ++i) cache.Insert(NumberKey(1'000'000 + i), ResponseOf(4000));
  uint64_t found = 0;
  for (uint64_t i = 0; i < kUsed; ++i) found += cache.Find(NumberKey(i)) != nullptr;
  EXPECT_GE(found, kUsed * 9 / 10);
}

// A key that comes back leaves the list of remembered keys. Its old place must not shorten the time for which
// it is remembered when it leaves the small queue again.
TEST(LocalCache, RemembersAKeyThatCameBackBefore) {
  const auto response = ResponseOf(1000);
  LocalCache cache(4 * response->bytes());
  const auto put = [&](uint64_t number) { cache.Insert(NumberKey(number), response); };
  for (uint64_t i = 0; i < 5; ++i) put(i);  // 0 leaves the small queue
  for (uint64_t i = 0; i < 5; ++i) put(i);  // each comes back; 4 displaces 0 from the main queue
  EXPECT_EQ(cache.Find(NumberKey(0)), nullptr);
  put(0);
  for (uint64_t i = 100; i < 112; ++i) put(i);  // 0 leaves the small queue, and 11 other keys after it
  EXPECT_EQ(cache.Find(NumberKey(0)), nullptr);
  put(0);  // is remembered, so it enters the main queue
  for (uint64_t i = 200; i < 210; ++i) put(i);
  EXPECT_NE(cache.Find(NumberKey(0)), nullptr);
}

TEST(LocalCache, ZipfHitsBeatLeastRecentlyUsed) {
  constexpr size_t kEntry = 1000, kEntries = 200;
  LocalCache cache(kEntries * ResponseOf(kEntry)->bytes());
  std::vector<double> weights;
  for (int i = 1; i <= 5000; ++i) weights.push_back(1.0 / i);
  std::discrete_distribution<uint64_t> zipf(weights.begin(), weights.end());
  std::mt19937 random(7);
  std::list<uint64_t> order;  // the reference: least recently used
  std::map<uint64_t, std::list<uint64_t>::iterator> known;
  int hits = 0, lru_hits = 0;
  for (int i = 0; i < 50'000; ++i) {
    const uint64_t number = zipf(random);
    if (cache.Find(NumberKey(number)))
      ++hits;
    else
      cache.Insert(NumberKey(number), ResponseOf(kEntry));
    if (const auto at = known.find(number); at != known.end()) {
      ++lru_hits;
      order.erase(at->second);
    }
    order.push_front(number);
    known[number] = order.begin();
    if (order.size() > kEntries) known.erase(order.back()), order.pop_back();
  }
  EXPECT_GT(hits, lru_hits);
}

TEST(LocalCache, ShardsAreUsedByManyThreads) {
  LocalCache cache(size_t{64} << 20);
  EXPECT_EQ(cache.shards(), 4u);
  EXPECT_EQ(LocalCache(size_t{1} << 40).shards(), 16u);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&cache, t] {
      for (uint64_t i = 0; i < 2000; ++i) {
        cache.Insert(NumberKey((i * 7 + t) % 500), ResponseOf(i % 3000));
        cache.Find(NumberKey(i % 500));
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cache.Facts().entries, 500u);
}

TEST(CacheOptions, ReadsBothForms) {
  CacheOptions options;
  EXPECT_FALSE(options.enabled());
  ASSERT_TRUE(AddCache("local:size=64M", options).ok());
  ASSERT_TRUE(AddCache("redis,host=h", options).ok());  // Triton's form has one setting per text
  ASSERT_TRUE(AddCache("redis,port=1234", options).ok());
  ASSERT_TRUE(AddCache("redis:user=u,password=p,db=2,timeout_ms=7,ttl_s=60", options).ok());
  ASSERT_TRUE(CheckCache(options).ok());
  EXPECT_EQ(options.local_bytes, size_t{64} << 20);
  EXPECT_EQ(options.redis->host, "h");
  EXPECT_EQ(options.redis->port, 1234);
  EXPECT_EQ(options.redis->user + options.redis->password, "up");
  EXPECT_EQ(options.redis->db, 2);
  EXPECT_EQ(options.redis->timeout.count(), 7);
  EXPECT_EQ(options.redis->ttl.count(), 60);
  CacheOptions bytes;
  ASSERT_TRUE(AddCache("local,size=1048576", bytes).ok());
  EXPECT_EQ(bytes.local_bytes, size_t{1} << 20);
}

TEST(CacheOptions, RefusesWrongSettings) {
  for (const char* text :
       {"", "disk:size=1G", "local:size", "local:size=", "local:size=x", "local:size=0", "local:size=1",
        "local:size=99999999999G", "local:bytes=1M", "redis:port=0", "redis:port=x",
        "redis:host=", "redis:timeout_ms=0", "redis:ttl_s=-1", "redis:x=1"}) {
    CacheOptions options;
    EXPECT_FALSE(AddCache(text, options).ok()) << text;
  }
  CacheOptions incomplete;
  ASSERT_TRUE(AddCache("local", incomplete).ok());
  EXPECT_EQ(CheckCache(incomplete).message(), "the cache 'local' needs a size, such as local:size=64M");
  CacheOptions user;
  ASSERT_TRUE(AddCache("redis:user=u", user).ok());
  EXPECT_FALSE(CheckCache(user).ok());
}

}  // namespace
}  // namespace tern::server
