#include "core/file_writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace tern {
namespace {

class FileWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "tern_writer_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  size_t Count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  std::string folder_;
};

TEST_F(FileWriterTest, AppearsWhenComplete) {
  const std::string path = folder_ + "/a";
  FileWriter out(path);
  out.Write("ab", 2);
  out.Write("c", 1);
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE(out.Commit().ok());
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "abc");
}

TEST_F(FileWriterTest, LeavesNothingWithoutCommit) {
  FileWriter(folder_ + "/a").Write("x", 1);
  EXPECT_EQ(Count(), 0u);
}

TEST_F(FileWriterTest, ReportsWhyItCannotOpen) {
  const Status status = FileWriter(folder_ + "/none/a").Commit();
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_NE(status.message().find(std::strerror(ENOENT)), std::string::npos) << status.message();
}

// A limit on the file size simulates a full disk. Writes fail in the same way, but errno is EFBIG instead of
// ENOSPC.
TEST_F(FileWriterTest, ReportsWhyTheDiskIsFull) {
  auto* const before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{1000, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status;
  {
    FileWriter out(folder_ + "/a");
    const std::string bytes(100000, 'x');
    out.Write(bytes.data(), bytes.size());
    status = out.Commit();
  }
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_NE(status.message().find(std::strerror(EFBIG)), std::string::npos) << status.message();
  EXPECT_EQ(Count(), 0u);
}

}  // namespace
}  // namespace tern
