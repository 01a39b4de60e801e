// Tests that clones share the plans of their model. Clones never compile a plan twice, and they compile
// different plans concurrently.
#include "runtime/plan/plan_store.h"

#include <thread>

#include "runtime/test_support.h"

namespace tern {
namespace {

using std::chrono::milliseconds;

constexpr char kNet[] = R"(graph @g(%x: f32[N,8]) -> (%y) {
  #w: f32[8,2] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
  %h = MatMul(%x, #w)
  %y = Relu(%h)
})";

std::vector<std::unique_ptr<Session>> Clones(const std::string& text, int count,
                                             const SessionOptions& options = {}) {
  std::vector<std::unique_ptr<Session>> sessions;
  sessions.push_back(SessionOf(ParseOrDie(text), options));
  while (static_cast<int>(sessions.size()) < count) sessions.push_back(sessions[0]->Clone());
  return sessions;
}

TEST(PlanStore, EightClonesOfSixBatchSizesMakeSixPlans) {
  const auto sessions = Clones(kNet, 8);
  std::vector<std::thread> threads;
  for (const auto& session : sessions)
    threads.emplace_back([&session] {
      for (int round = 0; round < 3; ++round)
        for (int64_t batch : {1, 2, 4, 8, 16, 32}) {
          const auto got = session->Run(DatumList{Counting({batch, 8})});
          ASSERT_TRUE(got.ok()) << got.status().ToString();
          EXPECT_EQ((*got)[0].tensor.dims(), Dims({batch, 2}));
        }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& session : sessions) EXPECT_EQ(session->PlansMade(), 6);
  const auto want = EvaluateGraph(*ParseOrDie(kNet), {Counting({4, 8})});
  for (const auto& session : sessions) {
    const auto got = session->Run(DatumList{Counting({4, 8})});
    ASSERT_TRUE(got.ok() && want.ok());
    EXPECT_TRUE(SameTensor((*got)[0].tensor, (*want)[0].tensor));
  }
}

TEST(PlanStore, RemembersRangesThatNoPlanServes) {
  PlanStore store;
  const Program program;
  const std::vector<BoundValue> bound;
  LengthRange range;
  range.max_length = 7;
  for (const auto& [code, times] :
       {std::pair(Code::kResourceExhausted, 3), std::pair(Code::kUnsupported, 1)}) {
    int calls = 0;
    for (int i = 0; i < 3; ++i) {
      const auto plan = store.Get({program, bound, &range}, 4, Stop(),
                                  [&, code = code]() -> Result<std::shared_ptr<const Plan>> {
                                    ++calls;
                                    return Status(code, "no plan");
                                  });
      EXPECT_EQ(plan.status().code(), code);
    }
    EXPECT_EQ(calls, times);
  }
}

TEST(PlanStore, KeepsThePlansThatSessionsUseAndTheLastFew) {
  SessionOptions options;
  options.plan_cache = 2;
  const auto sessions = Clones(kNet, 2, options);
  for (int64_t batch : {1, 2, 3, 4}) ASSERT_TRUE(sessions[0]->Run(DatumList{Counting({batch, 8})}).ok());
  EXPECT_EQ(sessions[0]->PlansMade(), 4);
  for (int64_t batch : {3, 4}) ASSERT_TRUE(sessions[1]->Run(DatumList{Counting({batch, 8})}).ok());
  EXPECT_EQ(sessions[0]->PlansMade(), 4) << "the plans for batches 3 and 4 were cached";
  ASSERT_TRUE(sessions[1]->Run(DatumList{Counting({1, 8})}).ok());
  EXPECT_EQ(sessions[0]->PlansMade(), 5) << "the plan for batch 1 was no longer cached";
}

// A kernel whose Resize blocks for one size until the gate is opened.
struct Gate {
  std::atomic<bool> entered{false}, open{false};
};
Gate gate;
constexpr int64_t kHeld = 5;

class Gated : public KernelOf<Gated> {
 public:
  Status Resize(ResizeContext& c) override {
    if (c->InDims(0)[0] != kHeld) return {};
    gate.entered = true;
    while (!gate.open) std::this_thread::sleep_for(milliseconds(1));
    return {};
  }
  Status Run(RunContext& c) override {
    for (int64_t i = 0; i < c.Out(0).size(); ++i) c.Out<float>(0)[i] = -c.In<float>(0)[i];
    return {};
  }
};

// This test would hang if only one plan could be compiled at a time.
TEST(PlanStore, ClonesRunWhileAnotherShapeCompiles) {
  gate.entered = gate.open = false;
  KernelTable table;
  table.Add<Gated>("Unary", "test.gated", [](const KernelQuery&) { return true; });
  SessionOptions options;
  options.target = KeepTarget(table);
  const auto sessions = Clones("graph @g(%x: f32[N]) -> (%y) { %y = Neg(%x) }", 3, options);
  std::thread compiling([&] { EXPECT_TRUE(sessions[0]->Run(DatumList{Counting({kHeld})}).ok()); });
  while (!gate.entered) std::this_thread::sleep_for(milliseconds(1));
  for (int64_t n : {3, 4, 3}) {
    const auto got = sessions[1]->Run(DatumList{Counting({n})});
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_EQ((*got)[0].tensor.data<float>()[1], -Counting({n}).data<float>()[1]);
  }
  // A session waits for a plan that is being compiled, but not beyond its deadline.
  Stop stop;
  stop.deadline = std::chrono::steady_clock::now() + milliseconds(20);
  sessions[2]->SetStop(stop);
  const Status late = sessions[2]->Run(DatumList{Counting({kHeld})}).status();
  EXPECT_EQ(late.code(), Code::kCancelled);
  EXPECT_NE(late.message().find("it waited for another session that compiles the plan"), std::string::npos)
      << late.message();
  gate.open = true;
  compiling.join();
  sessions[2]->SetStop({});
  EXPECT_TRUE(sessions[2]->Run(DatumList{Counting({kHeld})}).ok());
  EXPECT_EQ(sessions[0]->PlansMade(), 3);
}

}  // namespace
}  // namespace tern
