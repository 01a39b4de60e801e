#include "server/rollout/rollouts.h"

#include <filesystem>
#include <thread>

#include "server/observe/metrics_text.h"
#include "server/rollout/test_support.h"

namespace tern::server {
namespace {

using Mode = FakeVersion::Mode;
using Versions = std::vector<std::shared_ptr<FakeVersion>>;

constexpr const char* kQuick =
    R"({"steps":[0,50],"step_seconds":0,"step_requests":20,"mirror_per_second":0,"max_error_rate":0.05,
        "max_disagreement":0.05,"max_slowdown":null,"control_per_second":0})";

class RolloutsTest : public testing::Test {
 protected:
  RolloutsTest() {
    std::string folder = (std::filesystem::temp_directory_path() / "tern-rollouts-XXXXXX").string();
    folder_ = mkdtemp(folder.data());
    Open();
  }
  ~RolloutsTest() override {
    if (rollouts_) rollouts_->Stop();
    registry_.Publish("m", {});
    rollouts_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Open() {
    auto opened = Rollouts::Create({folder_ + "/state.json"}, registry_);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    rollouts_ = std::move(*opened);
    rollouts_->Start([this](const std::string&) { return Load(); });
  }
  // Loads what the version policy `latest` and the rollout want, as the repository does.
  Status Load() {
    const std::lock_guard lock(load_);
    std::vector<std::string> existing, selected;
    for (const auto& version : files_) existing.push_back(version->version());
    selected = {existing.back()};
    rollouts_->Select("m", {existing, files_.back()->config().parameters.contains("tern_rollout"), false},
                      selected);
    std::vector<std::shared_ptr<ModelVersion>> versions;
    for (const auto& version : files_)
      if (std::find(selected.begin(), selected.end(), version->version()) != selected.end())
        versions.push_back(version);
    registry_.Publish("m", versions);
    return {};
  }
  std::shared_ptr<FakeVersion> Add(const std::string& number, Mode mode = Mode::kEcho,
                                   const std::string& policy = kQuick) {
    const auto version = std::make_shared<FakeVersion>(
        number, policy.empty() ? FakeVersion::Named("m") : FakeVersion::WithPolicy(policy), mode);
    {
      const std::lock_guard lock(load_);
      files_.push_back(version);
    }
    EXPECT_TRUE(Load().ok());
    return version;
  }
  std::string State() { return *rollouts_->State("m"); }
  bool Says(const std::string& text) { return State().find(text) != std::string::npos; }
  std::string Change(const std::string& request) {
    const auto changed = rollouts_->Change("m", request);
    return changed.ok() ? "" : changed.status().message();
  }
  // Sends requests until the condition holds.
  bool SendUntil(const std::function<bool()>& condition) {
    return Eventually([&] {
      for (int i = 0; i < 10; ++i) Send(registry_);
      return condition();
    });
  }

  std::string folder_;
  Registry registry_;
  std::mutex load_;
  Versions files_;
  std::unique_ptr<Rollouts> rollouts_;
};

TEST_F(RolloutsTest, PromotesAGoodVersion) {
  Add("1");
  EXPECT_EQ(Send(registry_), "1");
  EXPECT_EQ(registry_.Labels("m"), (std::map<std::string, std::string>{{"stable", "1"}}));
  const auto candidate = Add("2");
  EXPECT_EQ(Send(registry_), "1") << "the first step sends copies";
  EXPECT_EQ(Send(registry_, "canary"), "2");
  EXPECT_EQ(registry_.Labels("m"), (std::map<std::string, std::string>{{"canary", "2"}, {"stable", "1"}}));
  EXPECT_TRUE(SendUntil([&] { return Says("\"state\":\"idle\""); })) << State();
  EXPECT_TRUE(Says("\"stable\":\"2\"")) << State();
  EXPECT_TRUE(Says("\"change\":\"promote\""));
  EXPECT_EQ(Send(registry_), "2");
  EXPECT_TRUE(Eventually([&] { return registry_.Versions("m").size() == 1; })) << "version 1 is unloaded";
}

TEST_F(RolloutsTest, RollsBackABadVersionUnseenByClients) {
  for (const Mode mode : {Mode::kWrong, Mode::kFail}) {
    Add(std::to_string(files_.size() + 1));
    ASSERT_TRUE(SendUntil([&] { return Says("\"state\":\"idle\""); }));
    const std::string stable = files_.back()->version(), bad = std::to_string(files_.size() + 1);
    const auto candidate = Add(bad, mode);
    EXPECT_TRUE(SendUntil([&] {
      Status status;
      EXPECT_EQ(Send(registry_, "stable", &status), stable);
      EXPECT_TRUE(status.ok());
      return Says("\"change\":\"rollback\",\"version\":\"" + bad + "\"");
    })) << State();
    EXPECT_EQ(Send(registry_), stable);
    EXPECT_TRUE(Eventually([&] { return !registry_.Find("m", bad).ok(); })) << "the bad version is unloaded";
  }
}

TEST_F(RolloutsTest, CountsHangingClientsRequestsAsFailures) {
  Add("1");
  Add("2", Mode::kHang,
      R"({"steps":[99],"mirror":0,"max_error_rate":0.05,"hang_seconds":0.05,"max_slowdown":null})");
  EXPECT_TRUE(SendUntil([&] { return Says("\"change\":\"rollback\""); })) << State();
  EXPECT_TRUE(Says("no answer in time")) << State();
  files_[1]->AnswerHeld();  // before the calls and their observers end
}

TEST_F(RolloutsTest, MovesLabelsAtOnce) {
  Add("1", Mode::kEcho, "");
  Add("2", Mode::kEcho, "");
  EXPECT_EQ(Send(registry_), "2") << "without rollouts, the newest version answers";
  EXPECT_EQ(registry_.Find("m", "stable").status().code(), Code::kNotFound);
  EXPECT_EQ(Change(R"({"action":"label","label":"old","version":1})"), "");
  EXPECT_EQ(Send(registry_, "old"), "1");
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) {
      const std::string version = Send(registry_, "old");
      EXPECT_TRUE(version == "1" || version == "2") << version;
    }
  });
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(Change(StrCat(R"({"action":"label","label":"old","version":)", i % 2 + 1, "}")), "");
  stop = true;
  reader.join();
  EXPECT_EQ(Change(R"({"action":"label","label":"old","version":null})"), "");
  EXPECT_EQ(registry_.Find("m", "old").status().message(),
            "Request for unknown model: 'm' version old is not found: the model has no label 'old'");
}

TEST_F(RolloutsTest, PinsUntilANewerVersion) {
  Add("1", Mode::kEcho, "");
  Add("2", Mode::kEcho, "");
  EXPECT_EQ(Change(R"({"action":"rollback","version":1})"), "");
  EXPECT_EQ(Send(registry_), "1");
  EXPECT_TRUE(Says("\"state\":\"pinned\""));
  EXPECT_TRUE(Load().ok());
  EXPECT_EQ(Send(registry_), "1");
  EXPECT_EQ(Change(R"({"action":"rollback","version":2})"),
            "version 2 of model 'm' is newer than version 1, which answers now; use action 'pin'");
  Add("3", Mode::kEcho, "");
  EXPECT_EQ(Send(registry_), "3");
  EXPECT_EQ(Send(registry_, "stable"), "3");
  EXPECT_TRUE(Says("\"change\":\"unpin\""));
}

// With unload-first, a version that is being loaded may still fail.
TEST_F(RolloutsTest, AVersionThatOnlyHoldsRequestsDecidesNothing) {
  const auto stable = Add("1", Mode::kEcho, ""), newer = Add("2", Mode::kEcho, "");
  EXPECT_EQ(Change(R"({"action":"rollback","version":1})"), "");
  const auto holder = std::make_shared<FakeVersion>("3");
  holder->holds = true;
  registry_.Publish("m", {stable, holder});
  EXPECT_TRUE(Says("\"state\":\"pinned\"")) << State();
  EXPECT_FALSE(Says("\"change\":\"unpin\"")) << State();
  registry_.Publish("m", {stable});  // version 3 cannot be loaded
  EXPECT_TRUE(Says("\"state\":\"pinned\"")) << State();
  EXPECT_EQ(Send(registry_), "1");
  Add("3", Mode::kEcho, "");
  EXPECT_TRUE(Says("\"change\":\"unpin\"")) << State();
}

TEST_F(RolloutsTest, RollsBackWhileVersionsAreUnloaded) {
  Add("1", Mode::kEcho, "");
  Add("2", Mode::kEcho, "");
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(Change(R"({"action":"rollback","version":1})"), "");
    for (int k = 0; k < 20; ++k) ASSERT_EQ(Send(registry_), "1") << i;
    EXPECT_EQ(Change(R"({"action":"unpin"})"), "");
    ASSERT_TRUE(Eventually([&] { return Send(registry_) == "2"; })) << i;  // and version 1 is unloaded
  }
}

TEST_F(RolloutsTest, KeepsItsStateOverARestart) {
  Add("1");
  Add("2");
  EXPECT_EQ(Change(R"({"action":"weight","weight":40})"), "");
  rollouts_->Stop();
  registry_.Publish("m", {});
  rollouts_.reset();
  Open();
  EXPECT_TRUE(Load().ok());
  EXPECT_TRUE(Says("\"stable\":\"1\",\"candidate\":\"2\"")) << State();
  EXPECT_TRUE(Says("\"weight\":40.0") || Says("\"weight\":40")) << State();
  EXPECT_EQ(Change(R"({"action":"abort","reason":"no"})"), "");
  EXPECT_EQ(Send(registry_), "1");
  EXPECT_TRUE(Says("aborted by request: no"));
}

TEST_F(RolloutsTest, ReportsMetrics) {
  Add("1");
  Add("2");
  EXPECT_EQ(Change(R"({"action":"weight","weight":40})"), "");
  for (int i = 0; i < 50; ++i) Send(registry_);
  MetricsText text;
  rollouts_->AppendMetrics(text);
  const std::string metrics = text.Take();
  for (const char* line :
       {"tern_rollout_weight{model=\"m\",version=\"1\"} 60",
        "tern_rollout_weight{model=\"m\",version=\"2\"} 40",
        "tern_rollout_requests_total{model=\"m\",version=\"1\",source=\"client\"}",
        "tern_rollout_changes_total{model=\"m\",change=\"weight\"} 1", "tern_rollout_state_kept 1",
        "tern_rollout_evidence{model=\"m\",version=\"2\",test=\"errors\",for=\"bad\"}"})
    EXPECT_NE(metrics.find(line), std::string::npos) << line << "\n" << metrics;
}

TEST_F(RolloutsTest, VersionsMayBeReplacedUnderLoad) {
  Add("1");
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i)
    clients.emplace_back([&, i] {
      while (!stop) {
        Status status;
        Send(registry_, i == 0 ? "stable" : "", &status);
        failed += !status.ok();
      }
    });
  for (int i = 2; i < 12; ++i) {
    Add(std::to_string(i), i % 2 ? Mode::kWrong : Mode::kEcho);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (i % 3 == 0) Change(R"({"action":"promote"})");
  }
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace tern::server
