// Tests plans that serve a range of lengths of the states. Tests when a session requests such a plan, and
// what the session does if no such plan is possible.
#include "runtime/exec/state_test_support.h"

namespace tern {
namespace {

constexpr char kRangeDecoder[] =
    R"(graph @g(%x: f32[1,2,N,8], %pk: f32[1,2,P,8], %pv: f32[1,2,P,8]) -> (%y, %nk, %nv) {
  state %pk -> %nk {axis=2}
  state %pv -> %nv {axis=2}
  %y, %nk, %nv = Attention(%x, %x, %x, _, %pk, %pv)
})";

DatumList NoKeysAndValues() { return {Tensor(DType::kF32, {1, 2, 0, 8}), Tensor(DType::kF32, {1, 2, 0, 8})}; }
DatumList Tokens(int64_t count, int seed) { return {Noise({1, 2, count, 8}, static_cast<uint32_t>(seed))}; }

// The number of new tokens per run does not depend on the length of the states. If a session treated this
// number as a linear function of the length, it would compile a plan for thousands of new tokens.
TEST(StateRange, IsNotFittedToTheNumberOfNewTokens) {
  SessionAndReference both(kRangeDecoder, NoKeysAndValues());
  int seed = 0;
  for (int64_t n : {5, 1, 1, 1}) both.Run(Tokens(n, ++seed));
  const size_t arena = both.session().Memory().arena;
  for (int64_t n : {4, 1, 1, 3, 1, 2, 4, 8, 1}) {
    both.Run(Tokens(n, ++seed));
    ASSERT_FALSE(HasFailure()) << n;
    EXPECT_LE(both.session().Memory().arena, 4 * arena) << n;
  }
  both.Reset();
  // From the second run on, the number of new tokens equals the length before the run.
  for (int64_t n : {1, 1, 2, 4, 8, 16}) {
    both.Run(Tokens(n, ++seed));
    ASSERT_FALSE(HasFailure()) << n;
    EXPECT_LE(both.session().Memory().arena, 4 * arena) << n;
  }
}

TEST(StateRange, CoversAMaskOfAllPositions) {
  SessionAndReference both(
      R"(graph @g(%x: f32[1,2,N,8], %m: f32[1,1,1,T], %pk: f32[1,2,P,8], %pv: f32[1,2,P,8]) -> (%y, %nk, %nv) {
    state %pk -> %nk {axis=2}
    state %pv -> %nv {axis=2}
    %y, %nk, %nv = Attention(%x, %x, %x, %m, %pk, %pv)
  })",
      NoKeysAndValues());
  int64_t total = 0;
  for (int run = 0; run < 40; ++run) {
    const int64_t n = run == 0 ? 5 : 1;
    total += n;
    DatumList fed = Tokens(n, run);
    fed.push_back(Noise({1, 1, 1, total}, 7));
    both.Run(fed);
    ASSERT_FALSE(HasFailure()) << run;
  }
  EXPECT_LE(both.session().PlansMade(), 3);
}

TEST(StateRange, IsFoundAlthoughTheCallerSetsTheStates) {
  SessionAndReference both(kRangeDecoder, NoKeysAndValues());
  for (int run = 0; run < 30; ++run) {
    both.Run(Tokens(run == 0 ? 5 : 1, run));
    for (const char* name : {"pk", "pv"}) {
      const auto value = both.session().GetState(name);
      ASSERT_TRUE(value.ok());
      ASSERT_TRUE(both.session().SetState(name, *value).ok());
    }
    ASSERT_FALSE(HasFailure()) << run;
  }
  EXPECT_LE(both.session().PlansMade(), 3);
}

// The smallest plan for a range of lengths serves 2055 positions. Its y has 25 kB, which is more than the
// limit of 16 KiB.
TEST(StateRange, IsGivenUpIfItsPlanNeedsTooMuchMemory) {
  SessionOptions options;
  options.memory_limit = size_t{1} << 14;
  SessionAndReference both(R"(graph @g(%x: f32[N,3], %past: f32[P,3]) -> (%y, %present) {
    state %past -> %present {axis=0}
    %present = Concat(%past, %x) {axis=0}
    %y = Relu(%present)
  })",
                           {Tensor(DType::kF32, {0, 3})}, options);
  for (int run = 0; run < 8; ++run) {
    both.Run({Noise({1, 3}, static_cast<uint32_t>(run))});
    ASSERT_FALSE(HasFailure()) << run;
  }
  const auto warnings = both.session().Warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("16384"), std::string::npos) << warnings[0];
}

TEST(StateRange, WarningNamesTheNodeThatHasNone) {
  SessionAndReference both(R"(graph @g(%x: f32[N,3], %past: f32[P,3]) -> (%y, %present) {
    state %past -> %present {axis=0}
    #from: i64[1] = (-5) #to: i64[1] = (999999) #axis: i64[1] = (0)
    %present = Concat(%past, %x) {axis=0}
    %y = Slice(%present, #from, #to, #axis)
  })",
                           {Tensor(DType::kF32, {0, 3})});
  for (int run = 0; run < 8; ++run) {
    both.Run({Noise({1, 3}, static_cast<uint32_t>(run))});
    ASSERT_FALSE(HasFailure()) << run;
  }
  const auto warnings = both.session().Warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("Slice"), std::string::npos) << warnings[0];
}

// %rest has more rows for smaller lengths, so memory for the largest length does not suffice for smaller
// lengths.
TEST(StateRange, ExcludesDimsThatShrink) {
  SessionAndReference both(R"(graph @g(%x: f32[N,2], %past: f32[P,2], %table: f32[3000,2]) -> (%y, %present) {
    state %past -> %present {axis=0}
    #zero: i64[1] = (0) #to: i64[1] = (999999)
    %present = Concat(%past, %x) {axis=0}
    %length = Gather(Shape(%present), #zero)
    %rest = Slice(%table, %length, #to, #zero)
    %y = Relu(%rest + %rest)
  })",
                           {Tensor(DType::kF32, {0, 2})});
  const Datum table = Noise({3000, 2}, 1);
  for (int run = 0; run < 8; ++run) {
    both.Run({Noise({1, 2}, static_cast<uint32_t>(run)), table});
    ASSERT_FALSE(HasFailure()) << run;
  }
}

}  // namespace
}  // namespace tern
