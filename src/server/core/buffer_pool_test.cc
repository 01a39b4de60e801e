#include "server/core/buffer_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace tern::server {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(BufferPool, ReusesTheMemoryOfSimilarSizes) {
  BufferPool pool(64 * kMiB);
  Buffer first = pool.Allocate(16 * kMiB + 100);
  ASSERT_TRUE(first.defined());
  EXPECT_EQ(first.size(), 16 * kMiB + 100);
  std::memset(first.data(), 1, first.size());
  const void* memory = first.data();
  EXPECT_EQ(pool.kept_bytes(), 0u);
  first = {};
  EXPECT_GE(pool.kept_bytes(), 16 * kMiB);
  const Buffer second = pool.Allocate(16 * kMiB);
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(second.size(), 16 * kMiB);
  EXPECT_EQ(pool.kept_bytes(), 0u);
  EXPECT_NE(pool.Allocate(16 * kMiB).data(), memory) << "it is in use";
}

TEST(BufferPool, DoesNotWasteALargeBlockOnASmallBuffer) {
  BufferPool pool(64 * kMiB);
  pool.Allocate(16 * kMiB);
  pool.Allocate(5 * kMiB);
  const size_t kept = pool.kept_bytes();
  const Buffer small = pool.Allocate(kMiB);
  EXPECT_EQ(pool.kept_bytes(), kept);
  const Buffer medium = pool.Allocate(4 * kMiB);
  EXPECT_EQ(pool.kept_bytes(), 16 * kMiB) << "the smallest block that fits";
}

TEST(BufferPool, SmallBuffersAreNotKept) {
  BufferPool pool(kMiB);
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{64}, size_t{65}, BufferPool::kMinBytes - 1}) {
    const Buffer buffer = pool.Allocate(bytes);
    ASSERT_TRUE(buffer.defined()) << bytes;
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
    std::memset(buffer.data(), 1, bytes);
  }
  EXPECT_EQ(pool.kept_bytes(), 0u);
}

TEST(BufferPool, KeepsAtMostItsLimit) {
  BufferPool pool(10 * kMiB);
  {
    std::vector<Buffer> buffers;
    for (int i = 0; i < 20; ++i) buffers.push_back(pool.Allocate(2 * kMiB));
    buffers.push_back(pool.Allocate(11 * kMiB));
  }
  EXPECT_LE(pool.kept_bytes(), 10 * kMiB);
  EXPECT_GE(pool.kept_bytes(), 8 * kMiB);
  const size_t before = pool.kept_bytes();
  pool.Allocate(11 * kMiB);  // larger than the limit
  EXPECT_EQ(pool.kept_bytes(), before);
}

TEST(BufferPool, ReleasesWhatIsIdle) {
  BufferPool pool(64 * kMiB);
  pool.Allocate(kMiB);
  const auto between = BufferPool::Clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  pool.Allocate(4 * kMiB);
  pool.ReleaseBefore(between);
  EXPECT_EQ(pool.kept_bytes(), 4 * kMiB);
  pool.ReleaseBefore(BufferPool::Clock::now());
  EXPECT_EQ(pool.kept_bytes(), 0u);
}

TEST(BufferPool, RefusesImpossibleSizes) {
  EXPECT_FALSE(BufferPool(kMiB).Allocate(SIZE_MAX).defined());
  EXPECT_FALSE(BufferPool(kMiB).Allocate(SIZE_MAX / 2).defined());
}

TEST(BufferPool, BuffersOutliveThePool) {
  Buffer buffer;
  {
    BufferPool pool(64 * kMiB);
    pool.Allocate(kMiB);
    buffer = pool.Allocate(2 * kMiB);
  }
  std::memset(buffer.data(), 1, buffer.size());
}

TEST(BufferPool, ThreadsShareIt) {
  BufferPool pool(8 * kMiB);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 300; ++i) {
        const Buffer buffer = pool.Allocate((static_cast<size_t>(i * 7 + t) % 5 + 1) * kMiB / 2);
        std::memset(buffer.data(), t, buffer.size());
        std::this_thread::yield();
        EXPECT_EQ(static_cast<int>(buffer.data()[0]), t);
        EXPECT_EQ(static_cast<int>(buffer.data()[buffer.size() - 1]), t);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pool.kept_bytes(), 8 * kMiB);
}

}  // namespace
}  // namespace tern::server
