#include "core/page_heap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace tern {
namespace {

constexpr size_t kMB = size_t{1} << 20;

bool AllZero(const void* data, size_t bytes) {
  const auto* p = static_cast<const char*>(data);
  return bytes == 0 || (p[0] == 0 && std::memcmp(p, p + 1, bytes - 1) == 0);
}

TEST(PageHeap, BlocksLieSideBySideAndAreZeroed) {
  PageHeap heap(64 * kMB);
  auto* a = static_cast<char*>(heap.Allocate(3 * kMB + 1));
  auto* b = static_cast<char*>(heap.Allocate(kMB));
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(b, a + 3 * kMB + PageHeap::kPage);
  EXPECT_TRUE(AllZero(a, 3 * kMB + 1));
  EXPECT_TRUE(AllZero(b, kMB));
}

TEST(PageHeap, AFreedBlockLeavesItsNeighboursAlone) {
  PageHeap heap(64 * kMB);
  char* blocks[3];
  for (char*& block : blocks) std::memset(block = static_cast<char*>(heap.Allocate(kMB + 5)), 0x77, kMB + 5);
  PageHeap::Free(blocks[1], kMB + 5);
  EXPECT_EQ(msync(blocks[1], kMB, MS_ASYNC), -1) << "still mapped";
  for (int i : {0, 2})
    for (size_t at : {size_t{0}, kMB + 4}) EXPECT_EQ(blocks[i][at], 0x77);
  auto* fresh = static_cast<char*>(heap.Allocate(kMB));
  EXPECT_GT(fresh, blocks[2]);
  EXPECT_TRUE(AllZero(fresh, kMB));
}

TEST(PageHeap, GoesOnInAnotherRegion) {
  PageHeap heap(4 * kMB);
  std::vector<char*> blocks;
  for (int i = 0; i < 20; ++i) {
    blocks.push_back(static_cast<char*>(heap.Allocate(3 * kMB)));
    ASSERT_NE(blocks.back(), nullptr) << i;
    std::memset(blocks.back(), i, 3 * kMB);
  }
  auto* large = static_cast<char*>(heap.Allocate(40 * kMB));  // larger than a region of 4 MiB
  ASSERT_NE(large, nullptr);
  EXPECT_TRUE(AllZero(large, 40 * kMB));
  for (int i = 0; i < 20; ++i)
    for (size_t at : {size_t{0}, 3 * kMB - 1}) EXPECT_EQ(blocks[static_cast<size_t>(i)][at], i);
}

TEST(PageHeap, RefusesMoreThanTheSystemHas) {
  PageHeap heap(kMB);
  EXPECT_EQ(heap.Allocate(SIZE_MAX), nullptr);
  std::string overcommit;
  std::getline(std::ifstream("/proc/sys/vm/overcommit_memory"), overcommit);
  if (overcommit != "1") {  // with "1" the system promises any amount of memory
    EXPECT_EQ(heap.Allocate(size_t{1} << 46), nullptr) << "64 TiB: enough addresses, but not enough memory";
  }
  EXPECT_NE(heap.Allocate(kMB), nullptr);
}

TEST(PageHeap, AChildProcessAllocatesWhileOthersDid) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) AllocateLongLived(kMB);
  });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // if the child deadlocks, a signal ends it
      _exit(AllocateLongLived(2 * kMB).data() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0) << "fork " << i;
  }
  stop = true;
  busy.join();
}

TEST(PageHeap, ThreadsGetBlocksOfTheirOwn) {
  PageHeap heap(64 * kMB);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const size_t bytes = kMB + static_cast<size_t>(i * 4096 + t);
        auto* block = static_cast<char*>(heap.Allocate(bytes));
        if (!block || !AllZero(block, 4096) || block[bytes - 1] != 0) ++wrong[static_cast<size_t>(t)];
        std::memset(block, t + 1, 4096);
        block[bytes - 1] = static_cast<char>(t + 1);
        std::this_thread::yield();
        if (block[0] != t + 1 || block[bytes - 1] != t + 1) ++wrong[static_cast<size_t>(t)];
        PageHeap::Free(block, bytes);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

// Returns how many kilobytes of the mapping at `begin` are in huge pages; -1 if the system does not report
// them.
long HugeKilobytes(const void* begin) {
  char start[32];
  std::snprintf(start, sizeof start, "%lx-", reinterpret_cast<unsigned long>(begin));
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(start) == 0) inside = true;
    if (inside && line.rfind("AnonHugePages:", 0) == 0) return std::stol(line.substr(14));
  }
  return -1;
}

TEST(PageHeap, BlocksOfOddSizesShareHugePages) {
  std::string enabled;
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), enabled);
  if (enabled.empty() || enabled.find("[never]") != std::string::npos) GTEST_SKIP() << "no huge pages here";
  PageHeap heap(256 * kMB);
  void* first = heap.Allocate(PageHeap::kAheadFrom);
  std::memset(first, 1, PageHeap::kAheadFrom);
  size_t total = PageHeap::kAheadFrom;
  for (int i = 0; i < 10; ++i, total += 7 * kMB + 5 * PageHeap::kPage)
    std::memset(heap.Allocate(7 * kMB + 5 * PageHeap::kPage), 1, 7 * kMB + 5 * PageHeap::kPage);
  const long huge = HugeKilobytes(first);
  if (huge == 0) GTEST_SKIP() << "the system has no huge page left";
  EXPECT_GE(huge, static_cast<long>(total >> 10) * 9 / 10);
}

}  // namespace
}  // namespace tern
