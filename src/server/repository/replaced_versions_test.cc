// Versions that were replaced or unloaded while requests use them.
#include "server/core/eventually.h"
#include "server/repository/test_support.h"

namespace tern::server {
namespace {

class ReplacedVersions : public RepositoryTest {};

TEST_F(ReplacedVersions, VersionsThatAreStillBusyDoNotHoldUpLoads) {
  options_.control = ControlMode::kExplicit;
  options_.load_at_start = {"*"};
  options_.load_threads = 1;
  folder_.Write("a/1/model.onnx", "ok");
  ASSERT_TRUE(Start().ok());
  scheduler_.SetBusy("a");
  folder_.Write("a/1/model.onnx", "new and ok");
  EXPECT_TRUE(repository_->Load("a", {}).ok());
  folder_.Write("b/1/model.onnx", "ok");
  EXPECT_TRUE(repository_->Load("b", {}).ok());
  EXPECT_TRUE(scheduler_.removed().empty());
  scheduler_.SetBusy("");
  EXPECT_TRUE(Eventually([&] { return scheduler_.removed() == std::vector<std::string>{"a:1"}; }));
}

TEST_F(ReplacedVersions, RefusesToLoadWhileManyEarlierVersionsAreBusy) {
  options_.control = ControlMode::kExplicit;
  options_.load_at_start = {"*"};
  folder_.Write("a/1/model.onnx", "ok");
  folder_.Write("b/1/model.onnx", "ok");
  ASSERT_TRUE(Start().ok());
  std::vector<std::shared_ptr<ModelVersion>> busy;  // as a request that runs would hold them
  const auto reload = [&](const std::string& text) {
    busy.push_back(*registry_.Find("a"));
    folder_.Write("a/1/model.onnx", text);
    return repository_->Load("a", {});
  };
  for (const char* text : {"ok 1", "ok 2", "ok 3"}) EXPECT_TRUE(reload(text).ok());
  busy.push_back(*registry_.Find("a"));
  EXPECT_TRUE(repository_->Unload("a", false).ok());
  const Status refused = repository_->Load("a", {});
  EXPECT_EQ(refused.code(), Code::kUnavailable);
  EXPECT_EQ(refused.message(),
            "failed to load 'a': requests still use the versions of 4 earlier loads; try again when these "
            "requests have ended");
  EXPECT_TRUE(repository_->Load("b", {}).ok()) << "other models are not concerned";
  busy.clear();
  EXPECT_TRUE(repository_->Load("a", {}).ok());
  EXPECT_TRUE(reload("ok 4").ok());
}

// The versions of one model do not wait for those of another.
TEST_F(ReplacedVersions, ManyBusyVersionsDoNotHoldUpIdleVersionsOfOtherModels) {
  options_.control = ControlMode::kExplicit;
  options_.load_at_start = {"*"};
  folder_.Write("a/1/model.onnx", "ok");
  folder_.Write("b/1/model.onnx", "ok");
  ASSERT_TRUE(Start().ok());
  const auto reload = [&](const std::string& model, int times) {
    for (int i = 0; i < times; ++i) {
      folder_.Write(model + "/1/model.onnx", "ok " + std::to_string(i));
      const Status status = repository_->Load(model, {});
      EXPECT_TRUE(status.ok()) << status.ToString();
    }
  };
  scheduler_.SetBusy("a");
  reload("a", 4);
  reload("b", 6);
  EXPECT_EQ(repository_->Load("a", {}).code(), Code::kUnavailable);
  scheduler_.SetBusy("");
  reload("a", 1);
}

// A version whose successor cannot be loaded may be read again: after an eviction, or by its process.
TEST_F(ReplacedVersions, CopiesOfVersionsThatServeStayInTheCache) {
  const TestFolder cache;
  options_.folders = {"file://" + folder_.path()};
  options_.store.cache_folder = cache.path();
  options_.store.cache_bytes = 16;
  options_.store.settle = seconds(0);
  options_.control = ControlMode::kExplicit;
  options_.load_at_start = {"*"};
  const auto copied = [&](const std::string& text) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(cache.path())) {
      std::string found;
      if (file.path().filename() == "model.onnx" && std::getline(std::ifstream(file.path()), found) &&
          found == text)
        return true;
    }
    return false;
  };
  const auto load = [&](const std::string& text) {
    folder_.Write("a/1/model.onnx", text);
    return repository_->Load("a", {});
  };
  folder_.Write("a/1/model.onnx", "good");
  ASSERT_TRUE(Start().ok());
  for (const char* text : {"fail", "fail\n1", "fail\n2"}) {
    const Status status = load(text);
    EXPECT_NE(status.message().find("cannot read"), std::string::npos) << status.message();
    EXPECT_TRUE(copied("good")) << text;
  }
  EXPECT_TRUE(load("ok").ok());
  // The cache has room for these 14 bytes when no other copy but the last one is left.
  bool loaded = false;
  EXPECT_TRUE(Eventually([&] { return loaded || (loaded = load("14 bytes long.").ok()); }));
  EXPECT_FALSE(copied("good"));
}

TEST_F(ReplacedVersions, StopDoesNotWaitLongerForReplacedVersions) {
  options_.control = ControlMode::kExplicit;
  options_.load_at_start = {"*"};
  folder_.Write("a/1/model.onnx", "ok");
  ASSERT_TRUE(Start().ok());
  scheduler_.SetBusy("a");
  folder_.Write("a/1/model.onnx", "new and ok");
  EXPECT_TRUE(repository_->Load("a", {}).ok());
  std::atomic<bool> stopped{false};
  std::thread stops([&] {
    repository_->Stop(milliseconds(10));
    stopped = true;
  });
  EXPECT_TRUE(Eventually([&] { return stopped.load(); }));
  stops.join();
}

}  // namespace
}  // namespace tern::server
