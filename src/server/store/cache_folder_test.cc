#include "server/store/cache_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/strings.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

class CacheFolderTest : public testing::Test {
 protected:
  CacheFolderTest() {
    std::string path = (fs::temp_directory_path() / "tern-cache-XXXXXX").string();
    root_ = mkdtemp(path.data());
  }
  ~CacheFolderTest() override { fs::remove_all(root_); }

  std::string root_;
};

TEST_F(CacheFolderTest, FilesThatAreWrittenAtTheSameTimeShareTheLimit) {
  auto cache = CacheFolder::Open(root_, "s3://test", 100);
  ASSERT_TRUE(cache.ok());
  auto copy = (*cache)->Begin("m");
  const std::string a = *(*copy)->PathFor("1/a"), b = *(*copy)->PathFor("1/b");
  auto first = (*cache)->MakeRoom(a, 60);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*cache)->MakeRoom(b, 41).status().code(), Code::kResourceExhausted);
  std::ofstream(a) << std::string(20, 'a');
  EXPECT_EQ((*cache)->MakeRoom(b, 41).status().code(), Code::kResourceExhausted);
  EXPECT_TRUE((*cache)->MakeRoom(b, 40).ok());
  first->reset();
  EXPECT_TRUE((*cache)->MakeRoom(b, 80).ok());
  EXPECT_FALSE((*cache)->MakeRoom(b, 81).ok());
}

TEST_F(CacheFolderTest, FilesOfUnknownSizeShareTheLimit) {
  auto cache = CacheFolder::Open(root_, "s3://test", 100);
  ASSERT_TRUE(cache.ok());
  auto copy = (*cache)->Begin("m");
  const std::string a = *(*copy)->PathFor("1/a"), b = *(*copy)->PathFor("1/b");
  auto first = (*cache)->MakeRoom(a, 1), second = (*cache)->MakeRoom(b, 1);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE((*first)->Grow(60).ok());
  std::ofstream(a) << std::string(60, 'a');
  const Status full = (*second)->Grow(41);
  EXPECT_EQ(full.code(), Code::kResourceExhausted);
  EXPECT_EQ(
      full.message(),
      "the repository cache has room for 40 bytes, but the new files have at least 41 (limit: 100 bytes)");
  EXPECT_TRUE((*second)->Grow(40).ok());
  EXPECT_FALSE((*first)->Grow(61).ok());
}

TEST_F(CacheFolderTest, KeepsSharedFilesOfReplacedCopies) {
  auto opened = CacheFolder::Open(root_, "s3://test", 0);
  ASSERT_TRUE(opened.ok());
  CacheFolder& cache = **opened;
  const auto publish = [&](const std::vector<std::string>& files) {
    auto copy = cache.Begin("m");
    ASSERT_TRUE(copy.ok());
    const CopiedFiles current = cache.Current("m");
    for (const std::string& file : files) {
      if (current.count(file) && (*copy)->Link(file, current.at(file))) continue;
      std::ofstream(*(*copy)->PathFor(file)) << file;
      (*copy)->Add(file, {file.size(), std::string(32, '0'), std::string(64, '0')});
    }
    ASSERT_TRUE(cache.Publish("m", **copy).ok());
  };
  publish({"1/a", "2/b"});
  const std::string first = fs::canonical(root_ + "/models/m");
  publish({"1/a", "3/c"});
  cache.RemoveReplaced(seconds(1000));
  EXPECT_TRUE(fs::exists(first + "/2/b"));  // it was replaced a moment ago
  cache.RemoveReplaced(seconds(0));
  EXPECT_TRUE(fs::exists(first + "/1/a"));  // a version that was loaded from here may be loaded again
  EXPECT_FALSE(fs::exists(first + "/2/b"));
  publish({"3/c"});
  cache.RemoveReplaced(seconds(0));
  EXPECT_FALSE(fs::exists(first));
  EXPECT_EQ(cache.Bytes(), 3u);
  cache.Remove("m");
  cache.RemoveReplaced(seconds(0));
  EXPECT_TRUE(fs::is_empty(root_ + "/copies"));
}

}  // namespace
}  // namespace tern::server
