// Tests how new versions are validated, warmed up and exchanged for old ones.
#include "server/core/eventually.h"
#include "server/repository/peak_memory.h"
#include "server/repository/serve_test_support.h"

namespace tern::server {
namespace {

// Model `m` computes y = x * factor, where x and y are FP32[N,4].
class LifeCycle : public ServeTest {
 protected:
  LifeCycle() {
    options_.control = ControlMode::kExplicit;
    options_.load_at_start = {"*"};
  }
  // Writes a golden request that expects `value` for an input of ones.
  void WriteGolden(const std::string& path, double value, const std::string& tolerance = "{}") {
    const std::string y = StrCat(value);
    folder_.Write(
        path, StrCat(R"({"request":{"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1,1,1,1]}]},
      "response":{"outputs":[{"name":"y","datatype":"FP32","shape":[1,4],"data":[)",
                     y, ",", y, ",", y, ",", y, R"(]}]},"tolerance":)", tolerance, "}"));
  }
  Status Load() { return repository_->Load("m", {}); }
  std::shared_ptr<ModelVersion> Live() { return *registry_.Find("m"); }
};

TEST_F(LifeCycle, AVersionThatFailsItsGoldenRequestIsNeverPublished) {
  WriteModel("m/1/model.tern", 2);
  WriteGolden("m/golden/ones.json", 2);
  Start();
  EXPECT_EQ(Live()->golden_requests(), 1u);
  EXPECT_TRUE(Live()->validated());
  EXPECT_EQ(Live()->statistics().Snapshot().success.count, 0u) << "golden requests are no traffic";
  WriteModel("m/2/model.tern", 3);
  const Status refused = Load();
  EXPECT_EQ(refused.code(), Code::kInvalidModel);
  EXPECT_NE(
      refused.message().find("version 2 is at UNAVAILABLE state: golden request 'golden/ones.json': output "
                             "'y'[0,0]: expected 2, got 3"),
      std::string::npos)
      << refused.message();
  EXPECT_EQ(Value("m"), 2) << "the old version stays";
  WriteGolden("m/golden/ones.json", 3);
  EXPECT_TRUE(Load().ok());
  EXPECT_EQ(Value("m"), 3);
}

TEST_F(LifeCycle, VersionsHaveGoldenRequestsOfTheirOwn) {
  WriteModel("m/1/model.tern", 2);
  WriteModel("m/2/model.tern", 3);
  folder_.Write("m/config.pbtxt", "version_policy { all {} }");
  WriteGolden("m/golden/any.json", 2.5, R"({"absolute":0.6})");
  WriteGolden("m/2/golden/exact.json", 3);
  Start();
  EXPECT_EQ((*registry_.Find("m", "1"))->golden_requests(), 1u);
  EXPECT_EQ((*registry_.Find("m", "2"))->golden_requests(), 2u);
}

TEST_F(LifeCycle, AWrongGoldenFileNamesItself) {
  WriteModel("m/1/model.tern", 2);
  Start();
  EXPECT_FALSE(Live()->validated()) << "there are no golden requests";
  folder_.Write("m/golden/half.json", R"({"request":)");
  const Status refused = Load();
  EXPECT_NE(refused.message().find("golden request 'golden/half.json': "), std::string::npos)
      << refused.message();
  EXPECT_EQ(refused.message().find(folder_.path()), std::string::npos) << "paths are hidden";
  EXPECT_EQ(Value("m"), 2);
}

TEST_F(LifeCycle, RecordedRequestsWarmUp) {
  WriteModel("m/1/model.tern", 2);
  const std::string line = R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1,1,1,1]}]})";
  folder_.Write("m/warmup/requests.jsonl", StrCat(line, "\n\n", line, "\r\n"));
  Start();
  EXPECT_EQ(Value("m"), 2);
  EXPECT_EQ(Live()->statistics().Snapshot().success.count, 1u);
  folder_.Write("m/warmup/requests.jsonl", StrCat(line, "\n", R"({"inputs":[]})", "\n"));
  const Status refused = Load();
  EXPECT_NE(refused.message().find("warm-up: line 2 of warmup/requests.jsonl: "), std::string::npos)
      << refused.message();
}

TEST_F(LifeCycle, RefusesUnknownParameters) {
  WriteModel("m/1/model.tern", 2);
  Start();
  for (const char* name : {"tern_change_order", "tern_warmup", "tern_pinned"}) {
    folder_.Write("m/config.pbtxt", StrCat("parameters { key: '", name, "' value { string_value: 'x' } }"));
    EXPECT_NE(Load().message().find(StrCat("parameter ", name, " is 'x'; it must be ")), std::string::npos)
        << name;
  }
}

TEST_F(LifeCycle, UnloadsFirstIfTheOperatorSaysSo) {
  options_.order = ChangeOrder::kUnloadFirst;
  WriteModel("m/1/model.tern", 2);
  WriteGolden("m/1/golden/ones.json", 2);
  Start();
  const std::weak_ptr<ModelVersion> old = Live();
  WriteModel("m/2/model.tern", 3);
  ASSERT_TRUE(Load().ok());
  EXPECT_TRUE(old.expired());
  EXPECT_EQ(Value("m"), 3);
  EXPECT_TRUE(Live()->change_memory().unload_first);
  EXPECT_GE(Live()->change_memory().peak, Live()->change_memory().before);
  EXPECT_GT(Live()->change_memory().before, 0u);
  folder_.Write("m/config.pbtxt",
                "parameters { key: 'tern_change_order' value { string_value: 'load-first' } }");
  ASSERT_TRUE(Load().ok());
  EXPECT_FALSE(Live()->change_memory().unload_first) << "the model's own order";
}

TEST_F(LifeCycle, LoadsTheOldVersionAgainIfTheNewOneFails) {
  options_.order = ChangeOrder::kUnloadFirst;
  WriteModel("m/1/model.tern", 2);
  Start();
  folder_.Write("m/2/model.tern", "no model");
  EXPECT_FALSE(Load().ok());
  EXPECT_EQ(Value("m"), 2);
  EXPECT_EQ(Live()->version(), "1");
  WriteModel("m/2/model.tern", 3);
  EXPECT_TRUE(Load().ok());
  EXPECT_EQ(Value("m"), 3);
}

class LifeCycleUnderBudget : public LifeCycle {
 protected:
  LifeCycleUnderBudget() { options_.memory_budget = 1 << 20; }
  void WriteConfig() {
    folder_.Write("m/config.pbtxt",
                  "max_batch_size: 4 input { name: 'x' data_type: TYPE_FP32 dims: 4 } "
                  "output { name: 'y' data_type: TYPE_FP32 dims: 4 }");
  }
  std::string Note() { return Live()->StateNote(); }
};

TEST_F(LifeCycleUnderBudget, AModelWithACompleteConfigurationIsLoadedByItsFirstRequest) {
  WriteConfig();
  WriteModel("m/1/model.tern", 2);
  auto started = Repository::Start(options_, *scheduler_, registry_);
  ASSERT_TRUE(started.ok());
  repository_ = std::move(*started);
  ASSERT_TRUE(Eventually([&] { return repository_->AllReady(); }));
  EXPECT_EQ(Note(), "not resident: the next request loads it");
  EXPECT_EQ(repository_->Index(true).at(0).reason, Note()) << "it is ready";
  EXPECT_EQ(Live()->config().outputs.at(0).name, "y");
  EXPECT_EQ(Value("m"), 2);
  EXPECT_TRUE(Eventually([&] { return Note().starts_with("resident: "); }));
}

TEST_F(LifeCycleUnderBudget, ANewVersionIsValidatedBeforeItReplacesAnother) {
  WriteConfig();
  WriteModel("m/1/model.tern", 2);
  auto started = Repository::Start(options_, *scheduler_, registry_);
  ASSERT_TRUE(started.ok());
  repository_ = std::move(*started);
  ASSERT_TRUE(Eventually([&] { return repository_->AllReady(); }));
  folder_.Write("m/2/model.tern", "no model");
  EXPECT_FALSE(Load().ok());
  EXPECT_EQ(Live()->version(), "1");
  EXPECT_EQ(Value("m"), 2);
  WriteModel("m/2/model.tern", 3);
  WriteGolden("m/golden/ones.json", 3);
  ASSERT_TRUE(Load().ok());
  EXPECT_TRUE(Live()->validated());
  EXPECT_EQ(Value("m"), 3);
}

TEST_F(LifeCycleUnderBudget, AnIncompleteConfigurationIsCompletedAtTheStart) {
  WriteModel("m/1/model.tern", 2);
  auto started = Repository::Start(options_, *scheduler_, registry_);
  ASSERT_TRUE(started.ok());
  repository_ = std::move(*started);
  ASSERT_TRUE(Eventually([&] { return repository_->AllReady(); }));
  EXPECT_EQ(Live()->config().inputs.at(0).name, "x");
  EXPECT_TRUE(Note().starts_with("resident: ")) << Note();
  EXPECT_EQ(Value("m"), 2);
}

// Requests of several threads while versions change: each gets one answer, which is no error.
class ChangesUnderLoad : public LifeCycle, public testing::WithParamInterface<ChangeOrder> {};

TEST_P(ChangesUnderLoad, LoseNoRequest) {
  options_.order = GetParam();
  WriteModel("m/1/model.tern", 2);
  Start();
  std::atomic<bool> stop{false};
  std::atomic<int> answers{0}, errors{0};
  std::vector<std::thread> clients;
  for (int t = 0; t < 3; ++t)
    clients.emplace_back([&] {
      while (!stop) {
        const auto responses = Infer("m");
        if (responses.size() != 1 || !responses[0].status.ok()) ++errors;
        ++answers;
      }
    });
  for (int i = 0; i < 15; ++i) {
    WriteModel(StrCat("m/", i + 2, "/model.tern"), i + 3);
    const Status status = Load();
    EXPECT_TRUE(status.ok()) << status.message();
  }
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(errors, 0);
  EXPECT_GT(answers, 15);
  EXPECT_EQ(Value("m"), 17);
}

INSTANTIATE_TEST_SUITE_P(Orders, ChangesUnderLoad,
                         testing::Values(ChangeOrder::kLoadFirst, ChangeOrder::kUnloadFirst));

TEST(PeakMemory, SeesWhatIsAllocated) {
  PeakMemory memory;
  {
    const Buffer large = Buffer::Allocate(64 << 20);
    std::memset(large.data(), 1, large.size());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const ChangeMemory measured = memory.Stop();
  EXPECT_GE(measured.peak, measured.before + (32 << 20));
  EXPECT_GT(measured.before, 0u);
}

}  // namespace
}  // namespace tern::server
