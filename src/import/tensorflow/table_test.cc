#include "import/tensorflow/table.h"

#include <gtest/gtest.h>

#include <cstring>

#include "import/tensorflow/crc32c.h"

namespace tern::tensorflow {
namespace {

using namespace std::string_literals;

void AddVarint(std::string& out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  out += static_cast<char>(v);
}

std::string Fixed32(uint32_t v) { return {reinterpret_cast<const char*>(&v), 4}; }

std::string Entry(size_t shared, const std::string& key, const std::string& value) {
  std::string out;
  AddVarint(out, shared);
  AddVarint(out, key.size());
  AddVarint(out, value.size());
  return out + key + value;
}

std::string Block(const std::string& entries) { return entries + Fixed32(0) + Fixed32(1); }

// Appends a block with its trailer and returns its handle.
std::string Append(std::string& file, const std::string& block, char compression) {
  std::string handle;
  AddVarint(handle, file.size());
  AddVarint(handle, block.size());
  const std::string stored = block + compression;
  file += stored + Fixed32(MaskCrc(Crc32c(stored.data(), stored.size())));
  return handle;
}

// A table with the entries "ab" → "1" and "ac" → "22", as a stored block.
std::string Table(const std::string& block, char compression) {
  std::string file;
  const std::string data = Append(file, block, compression);
  const std::string meta = Append(file, Block(""), 0), index = Append(file, Block(Entry(0, "b", data)), 0);
  std::string footer = meta + index;
  footer.resize(40);
  const uint64_t magic = 0xdb4775248b80fb57;
  return file + footer + std::string(reinterpret_cast<const char*>(&magic), 8);
}

const std::string kBlock = Block(Entry(0, "ab", "1") + Entry(1, "c", "22"));

TEST(Crc32c, MatchesKnownSums) {
  EXPECT_EQ(Crc32c("123456789", 9), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0').data(), 32), 0x8a9136aau);
  EXPECT_EQ(Crc32c("6789", 4, Crc32c("12345", 5)), 0xe3069283u);
}

TEST(Table, ReadsEntries) {
  const auto table = ReadTable(Table(kBlock, 0));
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  EXPECT_EQ(*table, (std::map<std::string, std::string>{{"ab", "1"}, {"ac", "22"}}));
}

TEST(Table, ReadsSnappyBlocks) {
  std::string packed;
  AddVarint(packed, kBlock.size());
  packed += static_cast<char>((kBlock.size() - 1) << 2);
  const auto table = ReadTable(Table(packed + kBlock, 1));
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  EXPECT_EQ(table->size(), 2u);
}

TEST(Table, RefusesBrokenFiles) {
  const std::string good = Table(kBlock, 0);
  EXPECT_FALSE(ReadTable("").ok());
  EXPECT_FALSE(ReadTable(Table(kBlock, 7)).ok());
  for (size_t i = 0; i + 48 < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    const auto table = ReadTable(bad);
    if (table.ok()) {
      EXPECT_GE(i, good.size() - 48 - 40) << i;  // only the unused meta block may differ
    }
  }
  std::string cut = good;
  cut.erase(3, 4);
  EXPECT_FALSE(ReadTable(cut).ok());
}

// An empty entry is three bytes of a block.
TEST(Table, BoundsTheMemoryOfEntries) {
  EXPECT_TRUE(ReadTable(Table(Block(std::string(3 * 1000, '\0')), 0)).ok());
  const auto table = ReadTable(Table(Block(std::string(3 * 5'000'000, '\0')), 0));
  ASSERT_FALSE(table.ok());
  EXPECT_NE(table.status().message().find("its keys are too many or too large"), std::string::npos)
      << table.status().message();
}

}  // namespace
}  // namespace tern::tensorflow
