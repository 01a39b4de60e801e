#include <thread>

#include "runtime/test_support.h"

namespace tern {
namespace {

TEST(ControlFlow, IfRunsOneBranch) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%c: bool[], %x: f32[4]) -> (%z) {
    %k = %x + %x
    %y = If(%c) [then @t() -> (%a) { %a = %k + %x } else @e() -> (%b) { %b = Relu(%k) }]
    %z = %y + %x
  })"));
  for (double c : {1, 0, 1}) ExpectLikeReference(*session, {Tensor::Scalar(DType::kBool, c), Counting({4})});
  EXPECT_EQ(session->PlansMade(), 3);
}

TEST(ControlFlow, LoopCarriesStateAndStacks) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%n: i64[], %x: f32[3]) -> (%last, %all) {
    #go: bool[] = (true)
    %last, %all = Loop(%n, #go, %x) [body @b(%i: i64[], %cond: bool[], %s: f32[3]) -> (%cond, %t, %r) {
      %t = %s + %x
      %r = Relu(%t)
    }]
  })"));
  for (double n : {3, 0, 5}) ExpectLikeReference(*session, {Tensor::Scalar(DType::kI64, n), Counting({3})});
  EXPECT_EQ(session->PlansMade(), 2);
}

TEST(ControlFlow, ALoopThatNeverRunsStacksTheDimsItKnows) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%n: i64[], %x: f32[N,3]) -> (%last, %all, %outer) {
    #go: bool[] = (true)
    %last, %all = Loop(%n, #go, %x) [body @b(%i: i64[], %cond: bool[], %s: f32[N,3]) -> (%cond, %t, %t) {
      %t = %s + %x
    }]
    %outer = Loop(%n, #go) [body @c(%j: i64[], %more: bool[]) -> (%more, %u) {
      %u = Relu(%x)
    }]
  })"));
  for (const int64_t rows : {2, 5}) {
    auto out = session->Run({Tensor::Scalar(DType::kI64, 0), Counting({rows, 3})});
    ASSERT_TRUE(out.ok()) << out.status().ToString();
    EXPECT_EQ((*out)[1].tensor.dims(), (Dims{0, rows, 3}));
    EXPECT_EQ((*out)[2].tensor.dims(), (Dims{0, rows, 3}));
  }
}

const char kEndless[] = R"(graph @g(%x: f32[4]) -> (%last, %all) {
  #go: bool[] = (true)
  #most: i64[] = (9223372036854775807)
  %last, %all = Loop(#most, #go, %x) as "spin" [body @b(%i: i64[], %c: bool[], %s: f32[4]) -> (%c, %t, %s) {
    %t = Relu(%s)
  }]
})";

TEST(ControlFlow, AnEndlessLoopStopsAtTheCollectLimit) {
  SessionOptions options;
  options.collect_limit = 100000;
  for (const bool reference : {false, true}) {
    options.reference = reference;
    auto session = SessionOf(ParseOrDie(kEndless), options);
    auto run = session->Run({Counting({4})});
    ASSERT_FALSE(run.ok());
    EXPECT_EQ(run.status().code(), Code::kResourceExhausted);
    for (const char* part : {"spin", "iterations", "bytes, the limit is 100000"})
      EXPECT_NE(run.status().message().find(part), std::string::npos) << run.status().message();
  }
}

// The loop's inputs are constants. Nevertheless, only a run may execute the loop. Creating the session,
// constant folding and compilation must not execute it.
TEST(ControlFlow, AnEndlessLoopIsCancelledAndTheSessionStaysUsable) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%go: bool[]) -> (%last) {
    #x: f32[4] = (1, 2, 3, 4)
    %one = If(%go) [then @t() -> (%a) {
      #on: bool[] = (true)
      %a = Loop(_, #on, #x) [body @b(%i: i64[], %c: bool[], %s: f32[4]) -> (%c, %s) {}]
    } else @e() -> (%b) { %b = Relu(#x) }]
    %last = Relu(%one)
  })"));
  for (const bool flag : {true, false}) {
    std::atomic<bool> cancel{false};
    Stop stop;
    if (!flag) stop.deadline = Stop::Clock::now() + std::chrono::milliseconds(20);
    stop.cancel = &cancel;
    session->SetStop(stop);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (flag) cancel = true;
    });
    auto run = session->Run({Tensor::Scalar(DType::kBool, 1)});
    other.join();
    ASSERT_FALSE(run.ok());
    EXPECT_EQ(run.status().code(), Code::kCancelled);
    EXPECT_NE(run.status().message().find("Loop"), std::string::npos) << run.status().message();
  }
  session->SetStop({});
  auto run = session->Run({Tensor::Scalar(DType::kBool, 0)});
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_EQ(ToDoubles((*run)[0].tensor), (std::vector<double>{1, 2, 3, 4}));
}

TEST(ControlFlow, MakingASessionRunsNoLoop) {
  auto session = SessionOf(ParseOrDie(R"(graph @g() -> (%last) {
    #x: f32[4] = (1, 2, 3, 4)
    #on: bool[] = (true)
    %last = Loop(_, #on, #x) [body @b(%i: i64[], %c: bool[], %s: f32[4]) -> (%c, %s) {}]
  })"));
  EXPECT_TRUE(session->Prepare().ok());
  const std::atomic<bool> cancel{true};
  Stop stop;
  stop.cancel = &cancel;
  session->SetStop(stop);
  EXPECT_EQ(session->Run().code(), Code::kCancelled);
}

TEST(ControlFlow, AGrowingStateKeepsTheCacheBounded) {
  SessionOptions options;
  options.plan_cache = 2;
  auto session = SessionOf(ParseOrDie(R"(graph @g(%n: i64[], %x: f32[1]) -> (%last) {
    #go: bool[] = (true)
    %last = Loop(%n, #go, %x) [body @b(%i: i64[], %cond: bool[], %s: f32[L]) -> (%cond, %t) {
      %r = Relu(%s)
      %t = Concat(%r, %x) {axis=0}
    }]
  })"),
                           options);
  ExpectLikeReference(*session, {Tensor::Scalar(DType::kI64, 20), Counting({1}, 1)});
}

TEST(ControlFlow, CapturesThroughTwoLevels) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%n: i64[], %x: f32[3], %c: bool[]) -> (%last) {
    #go: bool[] = (true)
    %k = Relu(%x)
    %last = Loop(%n, #go, %x) [body @b(%i: i64[], %cond: bool[], %s: f32[3]) -> (%cond, %t) {
      %t = If(%c) [then @t() -> (%a) { %a = %s + %k } else @e() -> (%a2) { %a2 = %k + %k }]
    }]
  })"));
  for (double c : {0, 1})
    ExpectLikeReference(*session,
                        {Tensor::Scalar(DType::kI64, 3), Counting({3}), Tensor::Scalar(DType::kBool, c)});
}

TEST(ControlFlow, ShapesFromOutsideAreKnownInside) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%n: i64[], %x: f32[N,2]) -> (%last) {
    #go: bool[] = (true)
    #minus: i64[1] = (-1)
    %shape = Shape(%x)
    %flat = Reshape(%x, #minus)
    %last = Loop(%n, #go, %flat) [body @b(%i: i64[], %cond: bool[], %s: f32[M]) -> (%cond, %t) {
      %r = Reshape(%s, %shape)
      %q = %r + %x
      %t = Reshape(%q, #minus)
    }]
  })"));
  for (int64_t n : {2, 5}) ExpectLikeReference(*session, {Tensor::Scalar(DType::kI64, 4), Counting({n, 2})});
  EXPECT_TRUE(session->Fallbacks().empty());
}

TEST(ControlFlow, AnIfOnShapesIsDecidedInThePlan) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[N,4]) -> (%y, %v) {
    #zero: i64[] = (0)
    #three: i64[] = (3)
    %shape = Shape(%x)
    %n = Gather(%shape, #zero) {axis=0}
    %small = Less(%n, #three)
    %k = Relu(%x)
    %v = If(%small) [
      then @t() -> (%a) { %a = %k + %x }
      else @e() -> (%b) { %b = If(%small) [then @tt() -> (%c) { %c = %x + %x } else @ee() -> (%k) { }] }]
    %y = %v + %k
  })"));
  for (int64_t n : {2, 5}) {
    ExpectLikeReference(*session, {Counting({n, 4})});
    for (const StepInfo& step : session->Steps()) EXPECT_FALSE(step.dynamic) << step.kernel;
    EXPECT_EQ(session->Steps().size(), n == 2 ? 3u : 2u);
  }
  EXPECT_EQ(session->PlansMade(), 2);
}

TEST(ControlFlow, SequencesOutliveTheArena) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[2,3]) -> (%y, %s) {
    #zero: i64[] = (0)
    %a = Relu(%x)
    %s = SequenceConstruct(%a, %x)
    %b = %x + %x
    %c = %b + %b
    %e = SequenceAt(%s, #zero)
    %d = %c + %c
    %y = %e + %d
  })"));
  ExpectLikeReference(*session, {Counting({2, 3})});
  EXPECT_TRUE(session->Fallbacks().empty());
}

}  // namespace
}  // namespace tern
