// Tests when plans append to states in place, and that all such states have the same capacity.
#include "runtime/exec/state_test_support.h"

namespace tern {
namespace {

constexpr char kInputs[] =
    "graph @g(%q: f32[1,2,N,8], %k: f32[1,2,N,8], %v: f32[1,2,N,8], %pk: f32[1,2,P,8], %pv: f32[1,2,P,8])";

const Tensor& Empty() {
  static const Tensor empty(DType::kF32, {1, 2, 0, 8});
  return empty;
}

DatumList Token(int run) {
  const auto seed = static_cast<uint32_t>(3 * run);
  return {Noise({1, 2, 1, 8}, seed), Noise({1, 2, 1, 8}, seed + 1), Noise({1, 2, 1, 8}, seed + 2)};
}

// The keys are a state, but the values are not. A kernel that appends in place uses one row stride for both,
// so it would write the values to wrong addresses.
TEST(StateAppend, NeedsKeysAndValuesAsStates) {
  SessionAndReference both(StrCat(kInputs, R"( -> (%y, %nk, %nv) {
    state %pk -> %nk {axis=2}
    %y, %nk, %nv = Attention(%q, %k, %v, _, %pk, %pv)
  })"),
                           {Empty()});
  Datum values = Empty();
  for (int run = 0; run < 70; ++run) {
    DatumList fed = Token(run);
    fed.push_back(values);
    both.Run(fed);
    ASSERT_FALSE(HasFailure()) << run;
    values = both.want()[2];
  }
}

TEST(StateAppend, NeedsThePresentValues) {
  SessionAndReference both(StrCat(kInputs, R"( -> (%y, %nk) {
    state %pk -> %nk {axis=2}
    %y, %nk = Attention(%q, %k, %v, _, %pk, %pv)
  })"),
                           {Empty()});
  for (int run = 0; run < 6; ++run) {
    DatumList fed = Token(run);
    fed.push_back(Noise({1, 2, run, 8}, 100));
    both.Run(fed);
    ASSERT_FALSE(HasFailure()) << run;
  }
}

TEST(StateAppend, LeavesAPastThatIsAnOutputContiguous) {
  SessionAndReference both(StrCat(kInputs, R"( -> (%y, %nk, %nv, %pk) {
    state %pk -> %nk {axis=2}
    state %pv -> %nv {axis=2}
    %y, %nk, %nv = Attention(%q, %k, %v, _, %pk, %pv)
  })"),
                           {Empty(), Empty()});
  for (int run = 0; run < 6; ++run) {
    both.Run(Token(run));
    ASSERT_FALSE(HasFailure()) << run;
  }
}

constexpr char kAppendingDecoder[] = R"( -> (%y, %nk, %nv) {
  state %pk -> %nk {axis=2}
  state %pv -> %nv {axis=2}
  %y, %nk, %nv = Attention(%q, %k, %v, _, %pk, %pv)
})";

// After 200 tokens, both states have a capacity of 256 positions. Then one state is set to a value of 10
// tokens, for which a capacity of 64 would suffice.
TEST(StateAppend, GivesAllStatesOneCapacity) {
  for (const char* alone : {"pk", "pv"}) {
    SessionAndReference both(StrCat(kInputs, kAppendingDecoder), {Empty(), Empty()});
    for (int run = 0; run < 200; ++run) both.Run(Token(run));
    both.Reset();
    for (int run = 0; run < 10; ++run) both.Run(Token(run));
    auto value = both.session().GetState(alone);
    ASSERT_TRUE(value.ok());
    ASSERT_TRUE(both.session().SetState(alone, *value).ok());
    for (int run = 0; run < 300; ++run) {
      both.Run(Token(run));
      ASSERT_FALSE(HasFailure()) << alone << ", run " << run;
    }
  }
}

}  // namespace
}  // namespace tern
