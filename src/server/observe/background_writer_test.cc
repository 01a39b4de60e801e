#include "server/observe/background_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <thread>

namespace tern::server {
namespace {

std::string TemporaryLog() {
  std::string path = "/tmp/tern_writer_XXXXXX";
  close(mkstemp(path.data()));
  return path;
}

std::string WrittenContents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(BackgroundWriter, WritesInOrder) {
  const std::string path = TemporaryLog();
  auto writer = BackgroundWriter::Open(path);
  ASSERT_TRUE(writer.ok());
  (*writer)->Add("one\n");
  (*writer)->Add("two\n");
  (*writer)->Flush();
  EXPECT_EQ(WrittenContents(path), "one\ntwo\n");
  std::remove(path.c_str());
}

TEST(BackgroundWriter, KeepsLinesWholeFromManyThreads) {
  const std::string path = TemporaryLog();
  {
    auto writer = BackgroundWriter::Open(path);
    ASSERT_TRUE(writer.ok());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) (*writer)->Add("abcdefgh\n");
      });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ((*writer)->dropped(), 0u);
  }
  const std::string text = WrittenContents(path);
  EXPECT_EQ(text.size(), 4000u * 9);
  for (size_t i = 0; i < text.size(); i += 9) ASSERT_EQ(text.substr(i, 9), "abcdefgh\n");
  std::remove(path.c_str());
}

TEST(BackgroundWriter, DropsBeyondTheLimitAndCounts) {
  const std::string path = TemporaryLog();
  auto writer = BackgroundWriter::Open(path, 4);
  ASSERT_TRUE(writer.ok());
  (*writer)->Add("longer than four bytes");
  EXPECT_EQ((*writer)->dropped(), 1u);
  (*writer)->Flush();
  EXPECT_EQ(WrittenContents(path), "");
  std::remove(path.c_str());
}

TEST(BackgroundWriter, CountsLinesThatTheDiskRefuses) {
  auto writer = BackgroundWriter::Open("/dev/full");
  ASSERT_TRUE(writer.ok());
  (*writer)->Add("x\n");
  (*writer)->Flush();
  EXPECT_EQ((*writer)->dropped(), 1u);
}

TEST(BackgroundWriter, FailsForAFolderThatIsMissing) {
  EXPECT_EQ(BackgroundWriter::Open("/nonexistent/log").status().code(), Code::kIo);
}

TEST(BackgroundWriter, ReopensARotatedFile) {
  const std::string path = TemporaryLog();
  auto writer = BackgroundWriter::Open(path);
  ASSERT_TRUE(writer.ok());
  (*writer)->Add("old\n");
  (*writer)->Flush();
  ASSERT_EQ(std::rename(path.c_str(), (path + ".1").c_str()), 0);
  (*writer)->Reopen();
  (*writer)->Add("new\n");
  (*writer)->Flush();
  EXPECT_EQ(WrittenContents(path), "new\n");
  EXPECT_EQ(WrittenContents(path + ".1"), "old\n");
  std::remove(path.c_str());
  std::remove((path + ".1").c_str());
}

}  // namespace
}  // namespace tern::server
