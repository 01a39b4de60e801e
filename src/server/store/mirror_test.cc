#include "server/store/mirror.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "server/store/digest.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// A store in memory, with faults.
class FakeStore : public ObjectStore {
 public:
  Result<std::vector<ObjectInfo>> List(const std::string& folder, const Stop& stop) override {
    TERN_TRY(stop.Check());
    const std::lock_guard<std::mutex> lock(mutex);
    if (gone) return IoError("the store is gone");
    std::vector<ObjectInfo> all;
    for (const auto& [key, text] : objects) {
      if (!folder.empty() && !StartsWith(key, folder + "/")) continue;
      ObjectInfo object;
      object.key = key;
      object.size = sizes ? text.size() : 0;
      object.size_known = sizes;
      object.version = Hex(Sha256(text));
      object.age = age;
      all.push_back(object);
    }
    return all;
  }
  Result<FetchedSums> Fetch(const ObjectInfo& object, uint64_t offset, const ObjectSink& sink,
                            const Stop& stop) override {
    TERN_TRY(stop.Check());
    const std::lock_guard<std::mutex> lock(mutex);
    ++fetches;
    if (gone) return IoError("the store is gone");
    std::string text = objects[object.key];
    if (Hex(Sha256(text)) != object.version) return Unavailable("changed");
    if (object.key == corrupt) text[0] ^= 1;
    offsets.push_back(offset);
    if (breaks > 0) {
      --breaks;
      TERN_TRY(sink(offset, text.substr(offset, (text.size() - offset) / 2)));
      return IoError("broken off");
    }
    TERN_TRY(sink(offset, std::string_view(text).substr(offset)));
    FetchedSums sums;
    sums.sha256 = object.version;
    return sums;
  }
  std::mutex mutex;
  std::map<std::string, std::string> objects;
  std::string corrupt;
  std::vector<uint64_t> offsets;
  double age = 1000;
  bool gone = false, sizes = true;
  int breaks = 0, fetches = 0;
};

class MirrorTest : public testing::Test {
 protected:
  MirrorTest() {
    std::string path = (fs::temp_directory_path() / "tern-mirror-XXXXXX").string();
    root_ = mkdtemp(path.data());
    options_.attempts = 3;
    Open();
  }
  ~MirrorTest() override {
    mirror_.reset();
    fs::remove_all(root_);
  }

  void Open(uint64_t most = 0) {
    auto store = std::make_unique<FakeStore>();
    if (mirror_) {
      store->objects = store_->objects;
      store->gone = store_->gone;
    }
    mirror_.reset();
    store_ = store.get();
    auto cache = CacheFolder::Open(root_, "s3://test", most);
    ASSERT_TRUE(cache.ok()) << cache.status().ToString();
    mirror_ = std::make_unique<Mirror>("s3://test", std::move(store), std::move(*cache), options_);
  }
  Status Refresh() { return mirror_->Refresh(nullptr, false, {}); }
  std::string Text(const std::string& file) const {
    std::ifstream in(root_ + "/models/" + file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string SumLine(const std::string& text, const std::string& name) {
    return StrCat(Hex(Sha256(text)), "  ", name, "\n");
  }
  // Returns the files below the models. Follows links.
  std::vector<std::string> Files() const {
    std::vector<std::string> out;
    for (const auto& entry :
         fs::recursive_directory_iterator(root_ + "/models", fs::directory_options::follow_directory_symlink))
      if (entry.is_regular_file()) out.push_back(entry.path().lexically_relative(root_ + "/models"));
    std::sort(out.begin(), out.end());
    return out;
  }

  std::string root_;
  StoreOptions options_;
  FakeStore* store_ = nullptr;
  std::unique_ptr<Mirror> mirror_;
};

using Names = std::vector<std::string>;

TEST_F(MirrorTest, CopiesWhatChanged) {
  store_->objects = {{"m/1/model", "one"}, {"m/config.pbtxt", "c"}, {"n/1/model", "n"}};
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(Files(), (Names{"m/1/model", "m/config.pbtxt", "n/1/model"}));
  const std::string before = fs::canonical(root_ + "/models/m");
  EXPECT_EQ(store_->fetches, 3);
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(store_->fetches, 3);
  EXPECT_EQ(fs::canonical(root_ + "/models/m"), before);
  store_->objects["m/2/model"] = "two";
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(store_->fetches, 4);
  EXPECT_EQ(Text("m/1/model") + Text("m/2/model"), "onetwo");
  EXPECT_TRUE(fs::exists(before + "/1/model"));  // the old copy does not change
  EXPECT_FALSE(fs::exists(before + "/2"));
  EXPECT_EQ(fs::last_write_time(before + "/1/model"), fs::last_write_time(root_ + "/models/m/1/model"));
}

TEST_F(MirrorTest, RemovesModelsThatStayAway) {
  options_.settle = seconds(0);
  Open();
  store_->objects = {{"m/1/model", "one"}, {"m/2/model", "two"}, {"n/1/model", "n"}};
  ASSERT_TRUE(Refresh().ok());
  store_->objects.erase("m/1/model");
  store_->objects.erase("n/1/model");
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(Files(), Names{"m/2/model"});
  options_.settle = seconds(1000);
  Open();
  store_->objects.clear();
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(Files(), Names{"m/2/model"});  // it may come back
  ASSERT_TRUE(mirror_->Refresh(nullptr, true, {}).ok());
  EXPECT_EQ(Files(), Names{});
}

TEST_F(MirrorTest, WaitsUntilAVersionIsStable) {
  options_.settle = seconds(1000);
  Open();
  store_->objects = {{"m/1/model", "one"}};
  ASSERT_TRUE(Refresh().ok());
  store_->age = 999;
  store_->objects["m/2/model"] = "two";
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(Files(), Names{"m/1/model"});
  EXPECT_EQ(mirror_->counters().waiting, 1u);
  // A file of checksums says that the version is complete.
  store_->objects["m/2/SHA256SUMS"] = SumLine("two", "model");
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(Text("m/2/model"), "two");
  EXPECT_EQ(mirror_->counters().waiting, 0u);
  // A client that asks for the model says so, too.
  store_->objects["m/3/model"] = "three";
  ASSERT_TRUE(mirror_->Update("m", {}).ok());
  EXPECT_EQ(Text("m/3/model"), "three");
  store_->objects["m/4/model"] = "four";
  store_->age = 1000;
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(Text("m/4/model"), "four");
}

TEST_F(MirrorTest, UsesItsOwnClockIfTheStoreHasNone) {
  options_.settle = seconds(1);
  Open();
  store_->age = -1;
  store_->objects = {{"m/1/model", "one"}};
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(Files(), Names{});
  std::this_thread::sleep_for(seconds(1));
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(Files(), Names{"m/1/model"});
}

TEST_F(MirrorTest, NeverTakesAHalfVersion) {
  store_->objects = {{"m/1/model", "one"}, {"m/1/SHA256SUMS", SumLine("one", "model")}};
  ASSERT_TRUE(Refresh().ok());
  const Names good{"m/1/SHA256SUMS", "m/1/model"};
  EXPECT_EQ(Files(), good);
  store_->objects["m/2/SHA256SUMS"] = SumLine("two", "model") + SumLine("w", "weights");
  store_->objects["m/2/model"] = "two";
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(Files(), good);
  const Status status = mirror_->Update("m", {});
  EXPECT_EQ(
      status.message(),
      "model 'm' version 2: the version is not complete: SHA256SUMS lists 'weights', which is not there");
  store_->objects["m/2/weights"] = "x";
  EXPECT_NE(mirror_->Update("m", {}).message().find("the SHA-256 of 'm/2/weights' is"), std::string::npos);
  EXPECT_EQ(Files(), good);
  // A version that becomes broken keeps its old copy.
  store_->objects["m/1/model"] = "other";
  ASSERT_FALSE(mirror_->Update("m", {}).ok());
  EXPECT_EQ(Text("m/1/model"), "one");
  store_->objects["m/2/weights"] = "w";
  store_->objects["m/1/SHA256SUMS"] = SumLine("other", "model");
  ASSERT_TRUE(mirror_->Update("m", {}).ok());
  EXPECT_EQ(Text("m/1/model") + Text("m/2/weights"), "otherw");
  EXPECT_TRUE(fs::is_empty(root_ + "/incoming"));
}

TEST_F(MirrorTest, ContinuesTransfersThatBreakOff) {
  store_->objects = {{"m/1/model", std::string(1000, 'x')}};
  store_->breaks = 2;
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(store_->offsets, (std::vector<uint64_t>{0, 500, 750}));
  EXPECT_EQ(Text("m/1/model"), std::string(1000, 'x'));
  EXPECT_EQ(mirror_->counters().transfers.retries, 2u);
  EXPECT_EQ(mirror_->counters().transfers.bytes, 1000u);
  store_->objects["m/2/model"] = "two";
  store_->corrupt = "m/2/model";
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(Files(), Names{"m/1/model"});
  EXPECT_EQ(mirror_->counters().broken, 1u);
}

TEST_F(MirrorTest, KeepsCopiesWhenTheStoreIsGone) {
  store_->objects = {{"m/1/model", "one"}};
  ASSERT_TRUE(Refresh().ok());
  store_->gone = true;
  EXPECT_EQ(Refresh().code(), Code::kIo);
  EXPECT_FALSE(mirror_->counters().reachable);
  EXPECT_TRUE(mirror_->Update("m", {}).ok());
  EXPECT_EQ(mirror_->Update("other", {}).code(), Code::kIo);
  Open();  // after a restart
  EXPECT_EQ(Refresh().code(), Code::kIo);
  EXPECT_EQ(Text("m/1/model"), "one");
  store_->gone = false;
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(store_->fetches, 0);  // the copy of the last run is known
  std::atomic<bool> cancel{true};
  EXPECT_EQ(mirror_->Refresh(nullptr, true, {&cancel}).code(), Code::kCancelled);
}

TEST_F(MirrorTest, DoesNotUseDamagedCopies) {
  store_->objects = {{"m/1/model", "one"}, {"n/1/model", "n"}};
  ASSERT_TRUE(Refresh().ok());
  store_->gone = true;
  std::ofstream(root_ + "/models/m/1/model") << "on";
  fs::create_directories(root_ + "/incoming/x/y");
  fs::create_directory_symlink("/etc", root_ + "/models/etc");
  Open();
  EXPECT_EQ(Files(), Names{"n/1/model"});
  EXPECT_TRUE(fs::is_empty(root_ + "/incoming"));
  // The cache of another repository, and one that is in use.
  EXPECT_FALSE(CacheFolder::Open(root_, "s3://test", 0).ok());
  mirror_.reset();
  EXPECT_NE(CacheFolder::Open(root_, "s3://other", 0).status().message().find("copies of another repository"),
            std::string::npos);
}

TEST_F(MirrorTest, RespectsTheLimitOfTheCache) {
  Open(100);
  store_->objects = {{"m/1/model", std::string(40, 'a')}};
  ASSERT_TRUE(Refresh().ok());
  // The copies that were replaced make room.
  for (const char c : {'c', 'd', 'e'}) {
    store_->objects = {{"m/1/model", std::string(40, c)}};
    ASSERT_TRUE(mirror_->Update("m", {}).ok()) << c;
    EXPECT_EQ(Text("m/1/model"), std::string(40, c));
  }
  store_->objects["m/2/model"] = std::string(70, 'b');
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(Files(), Names{"m/1/model"});
  EXPECT_EQ(
      mirror_->Update("m", {}).message(),
      "model 'm' version 2: the repository cache has room for 60 bytes, but the new files have 70 (limit: 100 bytes)");
  store_->objects["m/2/model"] = std::string(60, 'b');
  ASSERT_TRUE(mirror_->Update("m", {}).ok());
}

TEST_F(MirrorTest, StopsFilesOfUnknownSizeAtTheLimit) {
  Open(100);
  store_->sizes = false;
  store_->objects = {{"m/1/model", std::string(101, 'a')}, {"n/1/model", std::string(90, 'b')}};
  EXPECT_EQ(mirror_->Update("m", {}).code(), Code::kResourceExhausted);
  EXPECT_TRUE(fs::is_empty(root_ + "/incoming"));
  ASSERT_TRUE(mirror_->Update("n", {}).ok());
  EXPECT_EQ(Files(), Names{"n/1/model"});
  store_->objects = {{"n/2/model", "n"}, {"n/2/SHA256SUMS", std::string(5 << 20, '#')}};
  Open();
  store_->sizes = false;
  const Status large = mirror_->Update("n", {});
  EXPECT_NE(large.message().find("'n/2/SHA256SUMS' has more than 4194304 bytes"), std::string::npos)
      << large.message();
}

TEST_F(MirrorTest, CountsEachVersionOnce) {
  options_.settle = seconds(1000);
  options_.attempts = 1;
  Open();
  store_->objects = {{"m/1/model", "one"}, {"n/1/model", "n"}};
  store_->corrupt = "m/1/model";
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(mirror_->Update("m", {}).ok());
  EXPECT_EQ(mirror_->counters().broken, 1u);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(mirror_->counters().broken, 1u);
  EXPECT_EQ(Files(), Names{"n/1/model"});
  // A version that waits, and that a client asks for.
  store_->age = 0;
  store_->objects["n/2/model"] = "two";
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(mirror_->counters().waiting, 1u);
  ASSERT_TRUE(mirror_->Update("n", {}).ok());
  EXPECT_EQ(mirror_->counters().waiting, 0u);
  // A version that is right now, one that is gone, and a model that is gone.
  store_->corrupt = "n/3/model";
  store_->objects["n/3/model"] = "three";
  EXPECT_TRUE(mirror_->Update("m", {}).ok());
  EXPECT_FALSE(mirror_->Update("n", {}).ok());
  EXPECT_EQ(mirror_->counters().broken, 1u);
  store_->objects.erase("n/3/model");
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(mirror_->counters().broken, 0u);
  store_->objects["o/1/model"] = "o";
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(mirror_->counters().waiting, 1u);
  store_->objects.erase("o/1/model");
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(mirror_->counters().waiting, 0u);
}

TEST_F(MirrorTest, KeepsFilesOfVersionsInUse) {
  Open(12);
  store_->objects = {{"m/1/model", "one"}, {"m/2/model", "two"}, {"m/labels", "l"}};
  ASSERT_TRUE(Refresh().ok());
  const std::string first = fs::canonical(root_ + "/models/m");
  EXPECT_EQ(mirror_->Keep(root_, "1"), nullptr);
  auto user = mirror_->Keep(first, "1"), other = mirror_->Keep(first, "1");
  ASSERT_NE(user, nullptr);
  // There is no room for version 2 beside the current copy.
  store_->objects = {{"m/1/model", "ONE"}, {"m/2/model", "TWO"}, {"m/labels", "L"}};
  EXPECT_EQ(mirror_->Update("m", {}).code(), Code::kResourceExhausted);
  store_->objects.erase("m/2/model");
  ASSERT_TRUE(mirror_->Update("m", {}).ok());
  store_->objects["m/3/model"] = "3333";  // takes the room of the old version 2
  ASSERT_TRUE(mirror_->Update("m", {}).ok());
  EXPECT_TRUE(fs::exists(first + "/1/model") && fs::exists(first + "/labels"));
  EXPECT_FALSE(fs::exists(first + "/2/model"));
  user.reset();
  store_->objects["m/4/model"] = "4444";
  EXPECT_EQ(mirror_->Update("m", {}).code(), Code::kResourceExhausted);
  EXPECT_TRUE(fs::exists(first + "/1/model"));
  other.reset();
  EXPECT_TRUE(mirror_->Update("m", {}).ok());
  EXPECT_FALSE(fs::exists(first));
}

TEST_F(MirrorTest, SurvivesAFullDisk) {
  store_->objects = {{"m/1/model", "one"}};
  ASSERT_TRUE(Refresh().ok());
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 4096;  // the system refuses to write more, as on a full disk
  setrlimit(RLIMIT_FSIZE, &small);
  store_->objects["m/2/model"] = std::string(100'000, 'x');
  const Status status = mirror_->Update("m", {});
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_NE(status.message().find("the disk of the repository cache is full"), std::string::npos)
      << status.message();
  EXPECT_EQ(Files(), Names{"m/1/model"});
  EXPECT_TRUE(fs::is_empty(root_ + "/incoming"));
  ASSERT_TRUE(mirror_->Update("m", {}).ok());
  EXPECT_EQ(Text("m/2/model").size(), 100'000u);
}

TEST_F(MirrorTest, WaitsForTheFilesBesideVersions) {
  store_->objects = {{"m/1/model", "one"}, {"m/config.pbtxt", "c"}};
  store_->corrupt = "m/config.pbtxt";
  ASSERT_TRUE(Refresh().ok());
  EXPECT_EQ(Files(), Names{});  // without its configuration, the model is another one
  store_->corrupt.clear();
  ASSERT_TRUE(mirror_->Update("m", {}).ok());
  EXPECT_EQ(Files(), (Names{"m/1/model", "m/config.pbtxt"}));
}

TEST(RetryTest, GivesUpAndStops) {
  int calls = 0;
  std::atomic<uint64_t> retries{0};
  const RetryOptions options{3, std::chrono::milliseconds(1), std::chrono::milliseconds(2)};
  const auto attempt = [&](Code code) { return [&calls, code] { return ++calls, Status(code, "x"); }; };
  EXPECT_EQ(Retry(options, {}, &retries, attempt(Code::kIo)).code(), Code::kIo);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(retries, 2u);
  EXPECT_EQ(Retry(options, {}, &retries, attempt(Code::kNotFound)).code(), Code::kNotFound);
  EXPECT_EQ(calls, 4);
  std::atomic<bool> cancel{true};
  EXPECT_EQ(Retry(options, {&cancel}, &retries, attempt(Code::kIo)).code(), Code::kCancelled);
}

}  // namespace
}  // namespace tern::server
