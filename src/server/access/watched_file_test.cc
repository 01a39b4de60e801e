#include "server/access/watched_file.h"

#include "server/access/test_support.h"
#include "server/core/eventually.h"

namespace tern::server {
namespace {

TEST(WatchedFile, SeesEveryChange) {
  const TestFolder folder;
  WatchedFile file(folder.Write("f", "one"));
  EXPECT_TRUE(*file.Refresh());
  EXPECT_EQ(file.content(), "one");
  EXPECT_FALSE(*file.Refresh());
  folder.Write("f", "two");  // the same size, and often the same time
  EXPECT_TRUE(*file.Refresh());
  EXPECT_EQ(file.content(), "two");
  // Kubernetes replaces a link.
  std::filesystem::create_symlink(folder.Write("a", "A"), folder.Path("link"));
  WatchedFile link(folder.Path("link"));
  EXPECT_TRUE(*link.Refresh());
  std::filesystem::create_symlink(folder.Write("b", "B"), folder.Path("new"));
  std::filesystem::rename(folder.Path("new"), folder.Path("link"));
  EXPECT_TRUE(*link.Refresh());
  EXPECT_EQ(link.content(), "B");
}

TEST(WatchedFile, ErrorsKeepTheContent) {
  const TestFolder folder;
  WatchedFile file(folder.Write("f", "one"));
  EXPECT_TRUE(*file.Refresh());
  std::filesystem::remove(folder.Path("f"));
  EXPECT_EQ(file.Refresh().status().code(), Code::kIo);
  EXPECT_EQ(file.content(), "one");
  folder.Write("f", "one");
  EXPECT_FALSE(*file.Refresh()) << "the same content";
  EXPECT_FALSE(WatchedFile("/dev/zero").Refresh().ok());
  EXPECT_FALSE(WatchedFile(folder.Path("")).Refresh().ok()) << "a folder";
  EXPECT_FALSE(*WatchedFile("").Refresh());
}

TEST(ReloadThread, RunsOnceASecondAndAfterWake) {
  std::atomic<int> runs{0};
  ReloadThread thread({[&] { ++runs; }, [] { throw std::runtime_error("ignored"); }});
  const auto begin = std::chrono::steady_clock::now();
  thread.Wake();
  EXPECT_TRUE(Eventually([&] { return runs >= 1; }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900));
  EXPECT_TRUE(Eventually([&] { return runs >= 2; }));
}

}  // namespace
}  // namespace tern::server
