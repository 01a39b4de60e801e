// A repository with the real scheduler and the built-in engine, for tests.
#pragma once
#include "ir/tern_file.h"
#include "ir/text.h"
#include "ops/ops.h"
#include "server/backend/test_support.h"
#include "server/repository/test_support.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;

class ServeTest : public testing::Test {
 protected:
  ServeTest() { options_.folders = {folder_.path()}; }
  ~ServeTest() override {
    if (repository_) repository_->Stop(std::chrono::seconds(5));
  }

  // Writes a model that computes y = x * factor.
  void WriteModel(const std::string& path, int factor) {
    InitOps();
    auto graph = ParseGraph(
        StrCat("graph @g(%x: f32[N,4]) -> (%y) {\n  #f: f32[1] = (", factor, ")\n  %y = Mul(%x, #f)\n}"));
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    folder_.Write(path, "");
    const Status saved = SaveTern(**graph, folder_.path() + "/" + path);
    ASSERT_TRUE(saved.ok()) << saved.ToString();
  }

  void Start() {
    auto started = Repository::Start(options_, *scheduler_, registry_);
    ASSERT_TRUE(started.ok()) << started.status().message();
    repository_ = std::move(*started);
    for (int i = 0; i < 5000 && !repository_->AllReady(); ++i) std::this_thread::sleep_for(milliseconds(1));
    for (const IndexEntry& entry : repository_->Index(false)) EXPECT_EQ(entry.reason, "") << entry.name;
  }

  // Returns the responses to a request with one row of ones.
  std::vector<Response> Infer(const std::string& model) {
    auto version = registry_.Find(model);
    if (!version.ok()) return {Response{.status = version.TakeStatus()}};
    const auto call = std::make_shared<TestCall>();
    const std::string input = (*version)->config().inputs[0].name;
    call->request.inputs = {Wire<float>(input, DType::kF32, {1, 4}, {1, 1, 1, 1})};
    call->request.arrived = Clock::now();
    (*version)->Submit(call);
    return call->Wait();
  }

  float Value(const std::string& model) {
    const auto responses = Infer(model);
    EXPECT_TRUE(responses[0].status.ok()) << responses[0].status.message();
    return responses[0].outputs.empty() ? -1 : ValuesOf<float>(responses[0].outputs[0])[0];
  }

  TestFolder folder_;
  RepositoryOptions options_;
  std::unique_ptr<Scheduler> scheduler_ = Scheduler::Create({2, std::chrono::microseconds(100)});
  Registry registry_;
  std::unique_ptr<Repository> repository_;
};

}  // namespace
}  // namespace tern::server
