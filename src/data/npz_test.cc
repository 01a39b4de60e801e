#include "data/npz.h"

#include <gtest/gtest.h>

#include "data/zip.h"

namespace tern::data {
namespace {

NamedTensors Sample() {
  return {{"a/b", Tensor::Of(DType::kF32, {2, 2}, {1, 2, 3, 4})},
          {"empty", Tensor(DType::kI64, {0})},
          {"big", Tensor(DType::kU8, {100000})}};
}

TEST(Npz, RoundTripsStoredAndDeflated) {
  for (const bool compress : {false, true}) {
    auto bytes = FormatNpz(Sample(), compress);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(bytes->size() < 10000, compress);
    auto back = ParseNpz(*bytes);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    ASSERT_EQ(back->size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ((*back)[i].first, Sample()[i].first);
      EXPECT_TRUE(SameTensor((*back)[i].second, Sample()[i].second));
    }
  }
}

TEST(Npz, RefusesEveryTruncation) {
  const std::string good = *FormatNpz({{"x", Tensor::Ints({1, 2, 3})}}, true);
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(ParseNpz(good.substr(0, n)).ok()) << n;
}

TEST(Npz, NoticesDamage) {
  const std::string good = *FormatNpz({{"x", Tensor::Ints({1, 2, 3})}}, false);
  std::string bad = good;
  bad[good.find("NUMPY") + 70] ^= 1;  // a byte of the tensor's data
  auto t = ParseNpz(bad);
  ASSERT_FALSE(t.ok());
  EXPECT_NE(t.status().message().find("checksum"), std::string::npos);
}

TEST(Npz, SurvivesFlippedBytes) {
  const std::string good = *FormatNpz({{"x", Tensor::Ints({1, 2, 3})}}, true);
  for (size_t i = 0; i < good.size(); ++i)
    for (const int flip : {1, 0x40, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      (void)ParseNpz(bad).ok();
    }
}

// Overwrites a size or the offset in the directory entry of a file.
TEST(Npz, RefusesClaimsBeyondTheFile) {
  const std::string good = *FormatNpz({{"x", Tensor::Ints({1, 2, 3})}}, true);
  const size_t entry = good.find("PK\x01\x02");
  for (const size_t field : {20, 24, 42}) {  // packed size, size, offset
    std::string bad = good;
    for (size_t i = 0; i < 4; ++i) bad[entry + field + i] = '\x7f';  // 2 GB
    auto t = ParseNpz(bad);
    ASSERT_FALSE(t.ok()) << field;
    EXPECT_NE(t.status().message().find("claims"), std::string::npos) << t.status().message();
  }
}

TEST(Npz, EndsOnExtraFieldsThatClaimTooMuch) {
  const std::string good = *FormatNpz({{"x", Tensor::Ints({1, 2, 3})}, {"y", Tensor::Ints({1, 2, 3})}}, true);
  std::string bad = good;
  // Changes the length of an extra field, which then covers bytes of the next entry.
  bad[good.find("PK\x01\x02") + 30] = '\x40';
  EXPECT_FALSE(ParseNpz(bad).ok());
}

// The writer refuses the number of bytes and reads none of them. Deflated or with its header, the entry could
// have more than 4 GB.
TEST(Npz, RefusesToWriteMoreThanFourGigabytes) {
  const char byte = 0;
  for (const bool compress : {false, true}) {
    ZipWriter writer(compress);
    const Status status = writer.Add("large", std::string_view(&byte, 0xfffffff0));
    ASSERT_FALSE(status.ok()) << compress;
    EXPECT_NE(status.message().find("more than 4 GB"), std::string::npos) << status.message();
    EXPECT_TRUE(writer.Add("small", "x").ok());
  }
}

TEST(Npz, RefusesEntriesThatOverlap) {
  ZipWriter writer(false);
  ASSERT_TRUE(writer.Add("a", std::string(1000, 'a')).ok());
  std::string file = writer.Finish();
  const size_t entry = file.find("PK\x01\x02"), end = file.find("PK\x05\x06");
  const std::string record = file.substr(entry, end - entry);
  std::string bad = file.substr(0, entry) + record + record + file.substr(end);
  const size_t new_end = bad.rfind("PK\x05\x06");
  bad[new_end + 10] = 2;
  auto list = ListZip(bad);
  ASSERT_FALSE(list.ok());
  EXPECT_NE(list.status().message().find("overlaps"), std::string::npos);
}

}  // namespace
}  // namespace tern::data
