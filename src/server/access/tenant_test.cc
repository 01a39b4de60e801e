#include "server/access/tenant.h"

#include <gtest/gtest.h>

#include <thread>

#include "server/access/failure_limit.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RateLimit, LetsBurstsAndTheRatePass) {
  RateLimit limit;
  const auto now = Clock::now();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(limit.Take(1, 10, 5, false, now).count(), 0) << i;
  EXPECT_EQ(limit.Take(1, 10, 5, false, now), milliseconds(100));
  EXPECT_EQ(limit.Take(1, 10, 5, false, now + milliseconds(99)), milliseconds(1))
      << "a refusal costs nothing";
  EXPECT_EQ(limit.Take(1, 10, 5, false, now + milliseconds(100)).count(), 0);
  int passed = 0;
  for (int ms = 1000; ms < 11000; ++ms)
    passed += limit.Take(1, 10, 5, false, now + milliseconds(ms)).count() == 0;
  EXPECT_NEAR(passed, 100, 6);
}

TEST(RateLimit, LetsALargeAmountMakeDebt) {
  RateLimit limit;
  const auto now = Clock::now();
  EXPECT_EQ(limit.Take(5000, 1000, 1000, true, now).count(), 0) << "more than fits";
  EXPECT_GT(limit.Take(1, 1000, 1000, true, now + milliseconds(3900)).count(), 0);
  EXPECT_EQ(limit.Take(1, 1000, 1000, true, now + milliseconds(4001)).count(), 0);
}

TEST(Permit, LimitsConcurrencyAndBytes) {
  TenantBook book;
  const auto tenant = book.Find("a");
  EXPECT_EQ(book.Find("a"), tenant);
  EXPECT_NE(book.Find("b")->id(), tenant->id());
  const Quota quota{0, 0, 2, 0, 100, 1};
  const auto now = Clock::now();
  Permit first, second, third;
  EXPECT_EQ(first.Acquire(tenant, quota, 60, now).message, "");
  EXPECT_EQ(
      second.Acquire(tenant, quota, 41, now).message,
      "the quota of this client is used up: 100 bytes of requests that wait or run, and this one has 41");
  EXPECT_FALSE(second.held());
  EXPECT_EQ(second.Acquire(tenant, quota, 40, now).message, "");
  const QuotaRefusal refused = third.Acquire(tenant, quota, 0, now);
  EXPECT_EQ(refused.message, "the quota of this client is used up: 2 requests at the same time");
  EXPECT_GT(refused.retry_after.count(), 0);
  EXPECT_EQ(tenant->in_flight(), 2u);
  EXPECT_EQ(tenant->queued_bytes(), 100u);
  EXPECT_EQ(tenant->refused(QuotaKind::kConcurrency), 1u);
  EXPECT_EQ(tenant->refused(QuotaKind::kQueuedBytes), 1u);
  Permit moved = std::move(first);
  moved.Release();
  EXPECT_NE(second.Grow(quota, 61, now).message, "") << "a body whose length was not known";
  second.Release();
  EXPECT_EQ(tenant->in_flight(), 0u);
  EXPECT_EQ(tenant->queued_bytes(), 0u);
}

TEST(Permit, CountsExactlyOnManyThreads) {
  TenantBook book;
  const auto tenant = book.Find("a");
  const Quota quota{0, 0, 3, 0, 1000, 1};
  std::atomic<uint64_t> most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        Permit permit;
        if (!permit.Acquire(tenant, quota, 10, Clock::now()).message.empty()) continue;
        most = std::max(most.load(), tenant->bytes() > 0 ? tenant->queued_bytes() : 0);
        Permit other = std::move(permit);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tenant->in_flight(), 0u);
  EXPECT_EQ(tenant->queued_bytes(), 0u);
  EXPECT_GT(most.load(), 0u);
}

TEST(FailureLimit, BlocksOneAddressForAWhile) {
  FailureLimit limit(60);  // one per second
  const auto now = Clock::now();
  const uint64_t bad = AddressKey("10.0.0.1:999"), good = AddressKey("10.0.0.2:999");
  EXPECT_EQ(AddressKey("10.0.0.1:1"), bad);
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(limit.Blocked(bad, now).count(), 0) << i;
    limit.Add(bad, now);
  }
  EXPECT_EQ(limit.Blocked(bad, now), milliseconds(1000));
  EXPECT_EQ(limit.Blocked(good, now).count(), 0);
  EXPECT_EQ(limit.blocked_addresses(now), 1u);
  EXPECT_EQ(limit.Blocked(bad, now + seconds(1)).count(), 0) << "one more try";
  FailureLimit off(0);
  for (int i = 0; i < 1000; ++i) off.Add(bad, now);
  EXPECT_EQ(off.Blocked(bad, now).count(), 0);
}

TEST(FailureLimit, HasBoundedMemory) {
  FailureLimit limit(2);
  const auto now = Clock::now();
  for (uint64_t i = 1; i < 100'000; ++i) limit.Add(i * 2 + 1, now);
  const uint64_t last = AddressKey("10.9.9.9:1");
  for (int i = 0; i < 2; ++i) limit.Add(last, now + seconds(1));
  EXPECT_GT(limit.Blocked(last, now + seconds(1)).count(), 0) << "new addresses replace older ones";
}

TEST(AddressKey, GroupsAddresses) {
  EXPECT_EQ(AddressKey("[2001:db8::1]:5"), AddressKey("[2001:db8::ffff:2]:6"));
  EXPECT_NE(AddressKey("[2001:db8::1]:5"), AddressKey("[2001:db8:0:1::1]:5"));
  EXPECT_EQ(AddressKey("[::ffff:10.0.0.1]:5"), AddressKey("10.0.0.1:7"));
  for (const char* none : {"", "unix", "closed", "[::1", "x:1"}) EXPECT_EQ(AddressKey(none), 0u) << none;
}

}  // namespace
}  // namespace tern::server
