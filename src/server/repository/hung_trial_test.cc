// Requests of warm-up and golden requests that are never answered.
#include "server/core/eventually.h"
#include "server/repository/serve_test_support.h"

namespace tern::server {
namespace {

class HungTrial : public ServeTest {
 protected:
  HungTrial() {
    options_.backend_folder = TERN_TEST_BACKENDS;
    options_.load_threads = 1;
  }
  // Writes a version with a golden request, which it does not answer if `hangs` is true.
  void Write(const std::string& model, bool hangs) {
    folder_.Write(model + "/config.pbtxt", "backend: 'release'");
    folder_.Write(model + "/1/behaviour.txt", hangs ? "hang_after 1\n" : "scale 2\n");
    folder_.Write(
        model + "/golden/one.json",
        R"({"request": {"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1], "data": [1]}]},
                      "response": {"outputs": [{"name": "OUTPUT0", "datatype": "FP32", "shape": [1], "data": [3]}]}})");
  }
  void Begin() {
    auto started = Repository::Start(options_, *scheduler_, registry_);
    ASSERT_TRUE(started.ok()) << started.status().message();
    repository_ = std::move(*started);
  }
  std::string Reason(const std::string& model) {
    for (const IndexEntry& entry : repository_->Index(false))
      if (entry.name == model) return entry.reason;
    return "";
  }
};

TEST_F(HungTrial, HasALimit) {
  options_.trial_limit = milliseconds(200);
  Write("m", true);
  Begin();
  EXPECT_TRUE(Eventually([&] { return repository_->AllReady(); }));
  EXPECT_EQ(Reason("m"),
            "golden request 'golden/one.json': a request to try the model takes longer than 200 ms");
}

// One thread loads models, and two execute trials.
TEST_F(HungTrial, DoesNotKeepOtherModelsWaiting) {
  for (const char* model : {"a", "b", "c"}) Write(model, true);
  Write("d", false);
  Begin();
  EXPECT_TRUE(Eventually([&] { return registry_.Find("d").ok(); }));
  EXPECT_FALSE(repository_->AllReady()) << "the others are still tried";
  const auto begin = Clock::now();
  repository_->Stop(seconds(5));
  EXPECT_LT(Clock::now() - begin, seconds(5)) << "trials end with the server";
}

// A poll goes on without a model whose trial hangs, and later polls skip it.
TEST_F(HungTrial, DoesNotKeepPollsWaiting) {
  options_.control = ControlMode::kPoll;
  options_.poll_interval = std::chrono::seconds(1);
  options_.poll_patience = milliseconds(50);
  Write("d", false);
  Begin();
  EXPECT_TRUE(Eventually([&] { return registry_.Find("d").ok(); }));
  const auto loading = [&](const std::string& model) {
    const auto index = repository_->Index(false);
    return std::any_of(index.begin(), index.end(), [&](const IndexEntry& entry) {
      return entry.name == model && entry.state == ModelState::kLoading;
    });
  };
  const auto add = [&](const std::string& model, bool hangs) {  // all of its files at once
    Write("." + model, hangs);
    std::filesystem::rename(folder_.path() + "/." + model, folder_.path() + "/" + model);
  };
  add("a", true);
  EXPECT_TRUE(Eventually([&] { return loading("a"); }));
  add("e", false);
  EXPECT_TRUE(Eventually([&] { return registry_.Find("e").ok(); }));
  folder_.Remove("d");
  EXPECT_TRUE(Eventually([&] { return !registry_.Find("d").ok(); }));
  EXPECT_TRUE(loading("a")) << "it is loaded once, and still tried";
  const auto begin = Clock::now();
  repository_->Stop(seconds(5));
  EXPECT_LT(Clock::now() - begin, seconds(5));
}

}  // namespace
}  // namespace tern::server
