#include "core/mapped_files.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "core/buffer.h"

namespace tern {
namespace {

constexpr size_t kPages = 16;

size_t Resident(const Buffer& buffer) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t kilobytes = 0;
  // smaps reports the resident pages of this process. mincore would report the page cache of the system.
  std::FILE* smaps = std::fopen("/proc/self/smaps", "r");
  char line[512];
  bool inside = false;
  while (smaps && std::fgets(line, sizeof line, smaps)) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line, "%lx-%lx ", &begin, &end) == 2 && std::string(line).find(':') > 8)
      inside = begin == reinterpret_cast<unsigned long>(buffer.data());
    if (inside) std::sscanf(line, "Rss: %zu kB", &kilobytes);
  }
  if (smaps) std::fclose(smaps);
  return kilobytes * 1024 / page;
}

size_t Sum(const Buffer& buffer) {
  size_t sum = 0;
  for (size_t i = 0; i < buffer.size(); ++i) sum += static_cast<size_t>(buffer.data()[i]);
  return sum;
}

TEST(MappedFiles, PagesGoAndComeBack) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const std::string path = testing::TempDir() + "tern_mapped_" + std::to_string(getpid());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  const std::vector<char> bytes(kPages * page, 3);
  ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
  std::fclose(file);
  Result<Buffer> mapped = Buffer::MapFile(path);
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ(Sum(*mapped), 3 * kPages * page);
  ASSERT_EQ(Resident(*mapped), kPages);
  // The range contains only half of the first page and half of the last page, so these two pages stay.
  DropMappedPages(mapped->data() + page / 2, (kPages - 1) * page);
  EXPECT_EQ(Resident(*mapped), 2u);
  EXPECT_EQ(Sum(*mapped), 3 * kPages * page);
  std::remove(path.c_str());
}

TEST(MappedFiles, OtherMemoryIsLeftAlone) {
  const Buffer heap = Buffer::Allocate(4 << 20);
  for (size_t i = 0; i < heap.size(); ++i) heap.data()[i] = std::byte{1};
  DropMappedPages(heap.data(), heap.size());
  EXPECT_EQ(Sum(heap), heap.size());
}

}  // namespace
}  // namespace tern
