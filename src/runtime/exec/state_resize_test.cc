// Tests Session::ResizeStates and Session::StateMemory.
#include "runtime/test_support.h"

namespace tern {
namespace {

// y is the sum over all positions of the state, in which each run writes its new position.
constexpr char kSum[] = R"(graph @g(%x: f32[B,N], %past: f32[B,P]) -> (%y, %present) {
  state %past -> %present {axis=1}
  %present = Concat(%past, %x) {axis=1}
  %y = Relu(%present)
})";

std::vector<double> RunWith(Session& session, int64_t rows, const std::vector<double>& x) {
  const Status bound =
      session.BindInput(0, Tensor::Of(DType::kF32, {rows, static_cast<int64_t>(x.size()) / rows}, x));
  EXPECT_TRUE(bound.ok());
  const Status ran = session.Run();
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  return ran.ok() ? ToDoubles(session.Output(0).tensor) : std::vector<double>();
}

TEST(StateResize, KeepsRowsAndPositions) {
  auto session = SessionOf(ParseOrDie(kSum), {});
  EXPECT_EQ(RunWith(*session, 2, {1, 2, 3, 4}), (std::vector<double>{1, 2, 3, 4}));
  ASSERT_TRUE(session->ResizeStates(0, 3, 2).ok());
  EXPECT_EQ(RunWith(*session, 3, {5, 6, 7}), (std::vector<double>{1, 2, 5, 3, 4, 6, 0, 0, 7}));
  EXPECT_EQ(session->StateLength(), 3);
  ASSERT_TRUE(session->ResizeStates(0, 1, 1).ok());
  EXPECT_EQ(RunWith(*session, 1, {8}), (std::vector<double>{1, 8}));
  ASSERT_TRUE(session->ResizeStates(0, 1, 100).ok());
  const auto grown = RunWith(*session, 1, {9});
  ASSERT_EQ(grown.size(), 101U);
  EXPECT_EQ(grown[1], 8);
  EXPECT_EQ(grown[100], 9);
}

TEST(StateResize, WorksBeforeTheFirstRunAndAfterAReset) {
  auto session = SessionOf(ParseOrDie(kSum), {});
  EXPECT_FALSE(session->StateMemory("past").ok());
  ASSERT_TRUE(session->ResizeStates(0, 2, 3).ok());
  auto memory = session->StateMemory("past");
  ASSERT_TRUE(memory.ok()) << memory.status().ToString();
  ASSERT_GE(memory->dim(1), 3);
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t i = 0; i < 3; ++i)
      memory->data<float>()[row * memory->dim(1) + i] = static_cast<float>(10 * row + i);
  EXPECT_EQ(RunWith(*session, 2, {5, 6}), (std::vector<double>{0, 1, 2, 5, 10, 11, 12, 6}));
  session->ResetState();
  EXPECT_EQ(RunWith(*session, 1, {5}), (std::vector<double>{5}));
  session->ResetState();
  ASSERT_TRUE(session->ResizeStates(0, 4, 1).ok());
  EXPECT_EQ(RunWith(*session, 4, {1, 2, 3, 4}).size(), 8U);
}

TEST(StateResize, RefusesStatesWithoutRows) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[2], %h: f32[2]) -> (%y, %next) {
    state %h -> %next
    %next = %h + %x
    %y = Relu(%next)
  })"));
  EXPECT_EQ(session->ResizeStates(0, 2, 1).code(), Code::kUnsupported);
  auto sum = SessionOf(ParseOrDie(kSum), {});
  EXPECT_EQ(sum->ResizeStates(1, 2, 1).code(), Code::kUnsupported);
  EXPECT_EQ(sum->ResizeStates(0, 0, 1).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace tern
