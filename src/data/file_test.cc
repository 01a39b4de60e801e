#include "data/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace fs = std::filesystem;

namespace tern::data {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "tern_file_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  size_t Count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  std::string folder_;
};

TEST_F(FileTest, WritesWhole) {
  const std::string path = folder_ + "/a";
  ASSERT_TRUE(WriteFile(path, "one").ok());
  ASSERT_TRUE(WriteFile(path, "two").ok());
  EXPECT_EQ(*ReadFile(path), "two");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, LeavesNothingBehindOnFailure) {
  fs::create_directory(folder_ + "/taken");
  EXPECT_FALSE(WriteFile(folder_ + "/taken", "x").ok());
  EXPECT_FALSE(WriteFile(folder_ + "/none/a", "x").ok());
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, StagesUntilCommitted) {
  const std::string path = folder_ + "/m.onnx";
  {
    auto staging = Staging::Beside(path);
    ASSERT_TRUE(staging.ok());
    ASSERT_TRUE(WriteFile(staging->path(), "half").ok());
  }
  EXPECT_EQ(Count(), 0u);
  auto staging = Staging::Beside(path);
  ASSERT_TRUE(staging.ok());
  ASSERT_TRUE(WriteFile(staging->path(), "model").ok());
  ASSERT_TRUE(WriteFile(staging->path() + ".data", "weights").ok());
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE(staging->Commit().ok());
  EXPECT_EQ(*ReadFile(path), "model");
  EXPECT_EQ(*ReadFile(path + ".data"), "weights");
}

TEST_F(FileTest, FailedCommitPutsFilesBack) {
  const std::string path = folder_ + "/m.onnx";
  fs::create_directory(path);  // no file can be moved there
  const auto commit = [&] {
    auto staging = Staging::Beside(path);
    EXPECT_TRUE(staging.ok());
    EXPECT_TRUE(WriteFile(staging->path(), "new model").ok());
    EXPECT_TRUE(WriteFile(staging->path() + ".data", "new weights").ok());
    return staging->Commit();
  };
  EXPECT_EQ(commit().code(), Code::kIo);
  EXPECT_EQ(Count(), 1u);
  ASSERT_TRUE(WriteFile(path + ".data", "old weights").ok());
  EXPECT_EQ(commit().code(), Code::kIo);
  EXPECT_EQ(*ReadFile(path + ".data"), "old weights");
  EXPECT_EQ(fs::hard_link_count(path + ".data"), 1u);
  EXPECT_EQ(Count(), 2u);
}

TEST_F(FileTest, FailedCommitKeepsTheModelAndFolders) {
  const std::string path = folder_ + "/m.onnx";
  ASSERT_TRUE(WriteFile(path, "old model").ok());
  fs::create_directory(path + ".data");
  ASSERT_TRUE(WriteFile(path + ".data/a", "kept").ok());
  {
    auto staging = Staging::Beside(path);
    ASSERT_TRUE(staging.ok());
    ASSERT_TRUE(WriteFile(staging->path(), "new model").ok());
    ASSERT_TRUE(WriteFile(staging->path() + ".data", "new weights").ok());
    EXPECT_EQ(staging->Commit().code(), Code::kIo);
  }
  EXPECT_EQ(*ReadFile(path), "old model");
  EXPECT_EQ(*ReadFile(path + ".data/a"), "kept");
  EXPECT_EQ(Count(), 2u);
}

TEST_F(FileTest, CommitReplacesModelAndData) {
  const std::string path = folder_ + "/m.onnx";
  for (const std::string name : {"one", "two"}) {
    auto staging = Staging::Beside(path);
    ASSERT_TRUE(staging.ok());
    ASSERT_TRUE(WriteFile(staging->path(), name).ok());
    ASSERT_TRUE(WriteFile(staging->path() + ".data", name).ok());
    ASSERT_TRUE(staging->Commit().ok());
  }
  EXPECT_EQ(*ReadFile(path), "two");
  EXPECT_EQ(*ReadFile(path + ".data"), "two");
  EXPECT_EQ(Count(), 2u);
}

TEST_F(FileTest, WritesThroughLinks) {
  fs::create_directory(folder_ + "/far");
  const std::string link = folder_ + "/link", file = folder_ + "/far/file";
  fs::create_symlink("far/file", link);  // the target does not exist yet
  ASSERT_TRUE(WriteFile(link, "one").ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(*ReadFile(file), "one");
  auto staging = Staging::Beside(link);
  ASSERT_TRUE(staging.ok());
  ASSERT_TRUE(WriteFile(staging->path(), "two").ok());
  ASSERT_TRUE(staging->Commit().ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(*ReadFile(file), "two");
}

TEST_F(FileTest, LinksInACircle) {
  fs::create_symlink("b", folder_ + "/a");
  fs::create_symlink("a", folder_ + "/b");
  EXPECT_EQ(WriteFile(folder_ + "/a", "x").code(), Code::kIo);
  EXPECT_EQ(Count(), 2u);
}

TEST_F(FileTest, DevicesStayDevices) {
  EXPECT_TRUE(WriteFile("/dev/null", "x").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const Status full = WriteFile("/dev/full", "x");
  EXPECT_EQ(full.code(), Code::kIo);
  EXPECT_NE(full.message().find(std::strerror(ENOSPC)), std::string::npos) << full.message();
  EXPECT_FALSE(Staging::Beside("/dev/null").ok());
}

TEST_F(FileTest, RemovesPendingFiles) {
  auto staging = Staging::Beside(folder_ + "/m.onnx");
  ASSERT_TRUE(staging.ok());
  ASSERT_TRUE(WriteFile(staging->path(), "half").ok());
  RemovePendingFiles();
  EXPECT_EQ(Count(), 0u);
}

}  // namespace
}  // namespace tern::data
