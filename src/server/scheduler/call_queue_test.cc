#include "server/scheduler/call_queue.h"

#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

QueuedCallPtr Queued(int id, uint64_t priority = 0, microseconds timeout = {}, int64_t items = 1) {
  auto queued = std::make_shared<QueuedCall>();
  auto call = std::make_shared<TestCall>();
  call->request.id = std::to_string(id);
  call->request.priority = priority;
  call->request.timeout = timeout;
  queued->call = call;
  queued->items = items;
  return queued;
}

std::string Order(const CallQueue& queue) {
  std::string order;
  queue.ForEach([&](const QueuedCallPtr& call) {
    order += call->call->request.id;
    return true;
  });
  return order;
}

TEST(CallQueue, FirstInFirstOutWithinALevel) {
  BatchingConfig config;
  config.priority_levels = 3;
  config.default_priority = 2;
  CallQueue queue(config);
  const auto now = Clock::now();
  const uint64_t priorities[] = {3, 0, 1, 2, 1, 99};  // 0 and 99 mean the default
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(queue.Push(Queued(i, priorities[i]), now).ok());
  EXPECT_EQ(Order(queue), "241350");
  EXPECT_EQ(queue.ItemsBefore(1), 2);
  EXPECT_EQ(queue.ItemsBefore(0), 5);
}

TEST(CallQueue, PrioritiesAreIgnoredWithoutLevels) {
  CallQueue queue{BatchingConfig()};
  const auto now = Clock::now();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.Push(Queued(i, static_cast<uint64_t>(3 - i)), now).ok());
  EXPECT_EQ(Order(queue), "012");
}

TEST(CallQueue, RefusesBeyondItsSizePerLevel) {
  BatchingConfig config;
  config.priority_levels = 2;
  config.default_priority = 1;
  config.default_policy.max_queue_size = 1;
  config.priority_policies[2].max_queue_size = 2;
  CallQueue queue(config);
  const auto now = Clock::now();
  const auto first = Queued(1, 1);
  EXPECT_TRUE(queue.Push(first, now).ok());
  const Status full = queue.Push(Queued(2, 1), now);
  EXPECT_EQ(full.code(), Code::kUnavailable);
  EXPECT_EQ(full.message(), "Exceeds maximum queue size");
  EXPECT_TRUE(queue.Push(Queued(3, 2), now).ok());
  EXPECT_TRUE(queue.Push(Queued(4, 2), now).ok());
  EXPECT_FALSE(queue.Push(Queued(5, 2), now).ok());
  EXPECT_TRUE(queue.Erase(*first)) << "the queue has room again at once";
  EXPECT_FALSE(queue.Erase(*first));
  EXPECT_TRUE(queue.Push(Queued(6, 1), now).ok());
  EXPECT_EQ(Order(queue), "634");
}

QueuedCallPtr OfTenant(int id, uint32_t tenant, uint32_t weight = 1, int64_t items = 1) {
  auto queued = Queued(id, 0, {}, items);
  queued->call->request.tenant = tenant;
  queued->call->request.weight = weight;
  return queued;
}

// Takes the first request.
int TakeOne(CallQueue& queue) {
  QueuedCallPtr first;
  queue.ForEach([&](const QueuedCallPtr& call) { return first = call, false; });
  if (!first) return -1;
  queue.Take(*first);
  return static_cast<int>(first->call->request.tenant);
}

TEST(CallQueue, TenantsTakeTurns) {
  CallQueue queue{BatchingConfig()};
  const auto now = Clock::now();
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(queue.Push(OfTenant(i, 1), now).ok());
  EXPECT_EQ(TakeOne(queue), 1);
  EXPECT_EQ(queue.ItemsBefore(0, 1), 5);
  EXPECT_EQ(queue.ItemsBefore(0, 2), 0) << "a tenant that comes late does not wait for the others' queue";
  for (int i = 6; i < 9; ++i) ASSERT_TRUE(queue.Push(OfTenant(i, 2), now).ok());
  std::string order;
  while (!queue.empty()) order += std::to_string(TakeOne(queue));
  EXPECT_EQ(order, "21212111");
  // A tenant gets no credit for the time in which it sent nothing.
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(queue.Push(OfTenant(i, 1), now).ok());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(queue.Push(OfTenant(i, 2), now).ok());
  order.clear();
  while (!queue.empty()) order += std::to_string(TakeOne(queue));
  EXPECT_EQ(order, "12121212");
}

TEST(CallQueue, WeightsAndItemsDecideHowOftenATenantHasItsTurn) {
  CallQueue queue{BatchingConfig()};
  const auto now = Clock::now();
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(queue.Push(OfTenant(i, 1, 3), now).ok());
    ASSERT_TRUE(queue.Push(OfTenant(i, 2, 1), now).ok());
    ASSERT_TRUE(queue.Push(OfTenant(i, 3, 1, 2), now).ok());
  }
  int turns[4] = {};
  for (int i = 0; i < 270; ++i) ++turns[TakeOne(queue)];
  EXPECT_NEAR(turns[1], 180, 3);
  EXPECT_NEAR(turns[2], 60, 3);
  EXPECT_NEAR(turns[3], 30, 3) << "its requests have two items";
}

TEST(CallQueue, OneTenantFillsHalfOfAQueue) {
  BatchingConfig config;
  config.default_policy.max_queue_size = 4;
  CallQueue queue(config);
  const auto now = Clock::now();
  const auto first = OfTenant(0, 1);
  EXPECT_TRUE(queue.Push(first, now).ok());
  EXPECT_TRUE(queue.Push(OfTenant(1, 1), now).ok());
  EXPECT_EQ(queue.Push(OfTenant(2, 1), now).code(), Code::kUnavailable);
  EXPECT_TRUE(queue.Push(OfTenant(3, 2), now).ok());
  EXPECT_TRUE(queue.Erase(*first));
  EXPECT_TRUE(queue.Push(OfTenant(4, 1), now).ok());
  EXPECT_TRUE(queue.Push(OfTenant(5, 2), now).ok());
  EXPECT_FALSE(queue.Push(OfTenant(6, 3), now).ok()) << "the queue is full";
}

TEST(CallQueue, RejectsExpiredRequests) {
  BatchingConfig config;
  config.default_policy.default_timeout = microseconds(1000);
  config.default_policy.allow_timeout_override = true;
  CallQueue queue(config);
  const auto now = Clock::now();
  EXPECT_TRUE(queue.Push(Queued(0), now).ok());
  EXPECT_TRUE(queue.Push(Queued(1, 0, microseconds(500)), now).ok());
  // The request cannot extend the default.
  EXPECT_TRUE(queue.Push(Queued(2, 0, microseconds(9000)), now).ok());
  EXPECT_EQ(queue.NextExpiry(), now + microseconds(500));
  std::vector<RejectedCall> rejected;
  queue.Expire(now + microseconds(499), rejected);
  EXPECT_TRUE(rejected.empty());
  queue.Expire(now + microseconds(500), rejected);
  ASSERT_EQ(rejected.size(), 1u);
  EXPECT_EQ(rejected[0].call->call->request.id, "1");
  EXPECT_EQ(rejected[0].status.code(), Code::kUnavailable);
  EXPECT_EQ(rejected[0].status.message(), "Request timeout expired");
  queue.Expire(now + microseconds(1000), rejected);
  EXPECT_EQ(rejected.size(), 3u);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.NextExpiry(), kNever);
}

TEST(CallQueue, DelaysExpiredRequests) {
  BatchingConfig config;
  config.default_policy.timeout_action = TimeoutAction::kDelay;
  config.default_policy.allow_timeout_override = true;
  CallQueue queue(config);
  const auto now = Clock::now();
  EXPECT_TRUE(queue.Push(Queued(0, 0, microseconds(10)), now).ok());
  EXPECT_TRUE(queue.Push(Queued(1), now).ok());
  std::vector<RejectedCall> rejected;
  queue.Expire(now + microseconds(20), rejected);
  EXPECT_TRUE(rejected.empty());
  EXPECT_EQ(Order(queue), "10");
  EXPECT_EQ(queue.NextExpiry(), kNever);
  EXPECT_EQ(queue.Clear().size(), 2u);
  EXPECT_EQ(queue.items(), 0);
}

TEST(CallQueue, IgnoresTimeoutsThatItMayNotTake) {
  CallQueue queue{BatchingConfig()};
  EXPECT_TRUE(queue.Push(Queued(0, 0, microseconds(1)), Clock::now()).ok());
  EXPECT_EQ(queue.NextExpiry(), kNever);
  BatchingConfig config;
  config.default_policy.allow_timeout_override = true;
  CallQueue override_queue(config);
  EXPECT_TRUE(override_queue.Push(Queued(0, 0, microseconds::max()), Clock::now()).ok());
  EXPECT_TRUE(override_queue.Push(Queued(0, 0, microseconds(-5)), Clock::now()).ok());
  EXPECT_EQ(override_queue.NextExpiry(), kNever);
}

}  // namespace
}  // namespace tern::server
