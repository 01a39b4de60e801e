// Copies of requests, whose durations a rollout compares.
#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

TEST(Copies, GetOneThread) {
  std::atomic<int> threads{0};
  SchedulerWithModel server(IntModel(4), [&](Batch& batch) {
    threads = batch.threads;
    return Identity(batch);
  });
  const auto copy = IntCall(1);
  copy->request.copy = true;
  EXPECT_TRUE(server.Run(copy).status.ok());
  EXPECT_EQ(threads, 1);
}

}  // namespace
}  // namespace tern::server
