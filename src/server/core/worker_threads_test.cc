#include "server/core/worker_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <memory>

namespace tern::server {
namespace {

// No thread can be started while this object exists, because the address space has no room for its stack.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, size_t{1} << 62);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

TEST(WorkerThreads, RunsFunctions) {
  std::atomic<int> runs{0};
  WorkerThreads threads(2);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(threads.Post([&] { ++runs; }));
  while (runs < 100) std::this_thread::yield();
  threads.Stop();
  EXPECT_FALSE(threads.Post([&] { ++runs; }));
  EXPECT_EQ(runs, 100);
}

TEST(WorkerThreads, RefusesAFunctionIfNoThreadCanBeStarted) {
  std::atomic<int> runs{0};
  WorkerThreads threads(2);
  const auto owned = std::make_shared<int>(0);
  {
    const NoThreads none;
    EXPECT_FALSE(threads.Post([&runs, owned] { ++runs; }));
    EXPECT_EQ(owned.use_count(), 1) << "the function is dropped";
  }
  EXPECT_TRUE(threads.Post([&] { ++runs; }));
  while (runs < 1) std::this_thread::yield();
  {
    const NoThreads none;
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(threads.Post([&] { ++runs; })) << "the first thread runs it";
  }
  while (runs < 11) std::this_thread::yield();
}

}  // namespace
}  // namespace tern::server
