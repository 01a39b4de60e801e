#include "runtime/tune/record.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "base/strings.h"
#include "kernels/cpu/simd/active_isa.h"
#include "kernels/cpu/simd/level_test_support.h"
#include "runtime/bind/cpu_target.h"

namespace tern {
namespace {

const RecordKey kKey{"Some CPU @ 2 GHz", "avx2", 7};

std::string Head() { return "tern tuning record 1\ncpu: Some CPU @ 2 GHz\nisa: avx2\nkernels: 7\n"; }

Measurements MustRead(const std::string& path) {
  auto read = ReadRecord(path, kKey);
  EXPECT_TRUE(read.ok()) << read.status().ToString();
  return read.ok() ? *read : Measurements();
}

class RecordFile : public testing::Test {
 protected:
  void SetUp() override {
    root_ = StrCat(testing::TempDir(), "record_test_", getpid());
    folder_ = root_ + "/deep";
    std::filesystem::remove_all(root_);
    path_ = RecordPath(folder_, kKey);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string root_, folder_, path_;
};

TEST(Record, IsParsedAsItWasWritten) {
  const Measurements measured = {{"Conv{} f32[1,2] -> f32[3] threads=1", {{"cpu.a", 1.5}, {"cpu.b", 2.25}}},
                                 {"MatMul{}", {{"cpu.c", 0.001}, {"cpu.d", 3e6}}}};
  const RecordLines back = ParseRecord(FormatRecord(measured, {}, kKey), kKey);
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].first, "Conv{} f32[1,2] -> f32[3] threads=1");
  EXPECT_EQ(back[0].second[0].kernel, "cpu.a");
  EXPECT_EQ(back[0].second[1].microseconds, 2.25);
  EXPECT_EQ(FormatRecord({}, back, kKey), FormatRecord(measured, {}, kKey));
}

TEST(Record, OfAnotherMachineIsIgnored) {
  const std::string text = Head() + "n\ta=1 b=2\n";
  EXPECT_EQ(ParseRecord(text, kKey).size(), 1u);
  RecordKey other = kKey;
  other.kernels = 8;
  EXPECT_TRUE(ParseRecord(text, other).empty());
  other = kKey, other.isa = "avx512";
  EXPECT_TRUE(ParseRecord(text, other).empty());
  other = kKey, other.cpu = "Some CPU";
  EXPECT_TRUE(ParseRecord(text, other).empty());
}

TEST(Record, IgnoresInvalidLines) {
  const std::string wrong[] = {"n",
                               "n\t",
                               "\ta=1 b=2",
                               "n\ta=1",
                               "n\ta=1 b",
                               "n\ta=1 b=x",
                               "n\ta=1 b=-2",
                               "n\ta=1 b=0",
                               "n\ta=1 b=nan",
                               "n\ta=1 b=inf",
                               "n\ta=1 b=1e300",
                               "n\ta=1 A=2",
                               "n\ta=1  b=2",
                               "n\x01\ta=1 b=2",
                               "# n\ta=1 b=2",
                               StrCat(std::string(5000, 'n'), "\ta=1 b=2")};
  for (const std::string& line : wrong) {
    const RecordLines got = ParseRecord(StrCat(Head(), line, "\ngood\ta=1 b=2\n", line), kKey);
    ASSERT_EQ(got.size(), 1u) << line.substr(0, 80);
    EXPECT_EQ(got[0].first, "good");
  }
  std::string many = Head();
  for (int i = 0; i < 30'000; ++i) many += StrCat("n", i, "\ta=1 b=2\n");
  EXPECT_EQ(ParseRecord(many, kKey).size(), 20'000u);
  for (const char* text : {"", "\n", "tern tuning record 1", "tern tuning record 1\ncpu: Some CPU @ 2 GHz\n"})
    EXPECT_TRUE(ParseRecord(text, kKey).empty());
}

// A rounded time can become 0, and the text of many times can exceed the maximum length of a line.
TEST(Record, WritesOnlyLinesThatCanBeParsed) {
  std::vector<Measured> many;
  for (int i = 0; i < 45; ++i) many.push_back({std::string(90, 'k'), 1e9});
  const RecordLines lines = {
      {"short", {{"a", 1e-4}, {"b", 2}}}, {"long", many}, {"right", {{"a", 1}, {"b", 2}}}};
  const std::string text = FormatRecord({}, lines, kKey);
  const RecordLines back = ParseRecord(text, kKey);
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0].first, "right");
  EXPECT_EQ(FormatRecord({}, back, kKey), text);
}

TEST(Record, DropsTheOldestLinesIfFull) {
  std::string many = Head();
  for (int i = 0; i < 20'000; ++i) many += StrCat("n", i, "\ta=1 b=2\n");
  const Measurements fresh = {{"zz fresh", {{"a", 5}, {"b", 6}}}, {"n19998", {{"b", 7}, {"a", 8}}}};
  const RecordLines lines = ParseRecord(FormatRecord(fresh, ParseRecord(many, kKey), kKey), kKey);
  ASSERT_EQ(lines.size(), 20'000u);
  EXPECT_EQ(lines[0].first, "n19998");
  EXPECT_EQ(lines[0].second[0].kernel, "b") << "the fresh measurement";
  EXPECT_EQ(lines[1].first, "zz fresh");
  EXPECT_EQ(lines[2].first, "n0");
  EXPECT_EQ(lines.back().first, "n19997") << "n19999 was dropped";
}

TEST(Record, NeverExceedsTheSizeLimit) {
  const std::string node(4000, 'n');
  Measurements fresh;
  for (int i = 0; i < 18'000; ++i) fresh[StrCat(node, i)] = {{"a", 1}, {"b", 2}};
  const std::string text = FormatRecord(fresh, {}, kKey);
  EXPECT_LE(text.size(), kMaxRecordBytes);
  EXPECT_GT(text.size(), kMaxRecordBytes - 5000);
}

TEST_F(RecordFile, HasTheMachineInItsName) {
  EXPECT_EQ(path_, folder_ + "/tuning-some-cpu-2-ghz-avx2-7.txt");
  EXPECT_EQ(RecordPath("", kKey), "");
  EXPECT_TRUE(MustRead(path_).empty());
}

// The file stays unchanged, so that the user can examine it.
TEST_F(RecordFile, ThatIsTooLargeIsNeitherReadNorWritten) {
  ASSERT_TRUE(AddToRecord(path_, {{"one", {{"a", 1}, {"b", 2}}}}, kKey).ok());
  std::filesystem::resize_file(path_, kMaxRecordBytes + 1);
  for (const Status& status :
       {ReadRecord(path_, kKey).status(), AddToRecord(path_, {{"two", {{"a", 1}, {"b", 2}}}}, kKey)})
    EXPECT_NE(status.ToString().find(StrCat("'", path_, "' has 67108865 bytes")), std::string::npos)
        << status.ToString();
  EXPECT_EQ(std::filesystem::file_size(path_), kMaxRecordBytes + 1);
}

TEST_F(RecordFile, ThatIsAPipeDoesNotBlock) {
  std::filesystem::create_directories(folder_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_NE(ReadRecord(path_, kKey).status().ToString().find("not a regular file"), std::string::npos);
  EXPECT_FALSE(AddToRecord(path_, {{"one", {{"a", 1}, {"b", 2}}}}, kKey).ok());
}

TEST_F(RecordFile, ThatStaysLockedIsAnError) {
  ASSERT_TRUE(AddToRecord(path_, {{"one", {{"a", 1}, {"b", 2}}}}, kKey).ok());
  const int other = open((path_ + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(other, 0);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  const Status status = AddToRecord(path_, {{"two", {{"a", 1}, {"b", 2}}}}, kKey);
  EXPECT_NE(status.ToString().find(StrCat("cannot lock '", path_, ".lock': another process holds it")),
            std::string::npos)
      << status.ToString();
  std::thread owner([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    close(other);
  });
  EXPECT_TRUE(AddToRecord(path_, {{"two", {{"a", 1}, {"b", 2}}}}, kKey, std::chrono::minutes(1)).ok());
  owner.join();
  EXPECT_EQ(MustRead(path_).size(), 2u);
}

TEST(Record, DependsOnTheInstructionSet) {
  std::set<std::string> names;
  const cpu::LevelKeeper keeper;
  const std::vector<int> levels = cpu::LevelsHere();
  for (int level : levels) {
    cpu::LimitSimd(static_cast<cpu::SimdLevel>(level));
    names.insert(DefaultTarget().isa());
  }
  EXPECT_EQ(names.size(), levels.size());
  const bool best = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.find(" avx512") != std::string::npos;
  });
  EXPECT_EQ(best, levels.back() == static_cast<int>(cpu::SimdLevel::kAvx512));
}

TEST_F(RecordFile, KeepsExistingLines) {
  ASSERT_TRUE(AddToRecord(path_, {{"one", {{"a", 1}, {"b", 2}}}}, kKey).ok());
  ASSERT_TRUE(AddToRecord(path_, {{"two", {{"a", 3}, {"b", 4}}}, {"one", {{"b", 1}, {"a", 2}}}}, kKey).ok());
  const Measurements all = MustRead(path_);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.at("one")[0].kernel, "b");
  std::ofstream(path_) << "nonsense";
  EXPECT_TRUE(MustRead(path_).empty());
  ASSERT_TRUE(AddToRecord(path_, {{"one", {{"a", 1}, {"b", 2}}}}, kKey).ok());
  EXPECT_EQ(MustRead(path_).size(), 1u);
}

TEST_F(RecordFile, KeepsTheLinesOfConcurrentWriters) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([&, i] {
      for (int j = 0; j < 10; ++j)
        EXPECT_TRUE(AddToRecord(path_, {{StrCat("node ", i, " ", j), {{"a", 1}, {"b", 2}}}}, kKey,
                                std::chrono::minutes(1))
                        .ok());
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(MustRead(path_).size(), 40u);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) files += entry.is_regular_file();
  EXPECT_EQ(files, 2) << "the record and its lock";
}

TEST_F(RecordFile, NamesThePathThatCannotBeWritten) {
  std::filesystem::create_directories(root_);
  std::ofstream(root_ + "/file") << "x";
  const Status status = AddToRecord(root_ + "/file/r.txt", {}, kKey);
  EXPECT_NE(status.ToString().find(root_ + "/file"), std::string::npos) << status.ToString();
}

}  // namespace
}  // namespace tern
