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
