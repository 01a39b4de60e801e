// Tests nested graphs with a wrong number of inputs or outputs, and limits of loops.
#include <gtest/gtest.h>

#include "ir/evaluate.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace tern {
namespace {

std::string ErrorOf(const std::string& text) {
  InitOps();
  auto graph = ParseGraph(text);
  return graph.ok() ? "no error" : graph.status().message();
}

#define EXPECT_PART(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Control, CountsWhatBodiesTakeAndGive) {
  EXPECT_PART(ErrorOf(R"(graph @g(%x: f32[2], %s: f32[3,2]) -> (%y) {
    %y = Scan(%x, %x, %s) {scan_inputs=1} [body @b(%p: f32[2], %q: f32[2], %e: f32[2]) -> (%p) {}]
  })"),
              "the body gives 1 outputs for 2 states");
  EXPECT_PART(ErrorOf(R"(graph @g(%s: f32[3,2]) -> (%y) {
    %y = Scan(%s) {scan_inputs=4294967297} [body @b(%e: f32[2]) -> (%e) {}]
  })"),
              "scan_inputs is 4294967297, but must be from 1 to 1, the number of inputs");
  EXPECT_PART(ErrorOf(R"(graph @g(%s: seq(f32[2])) -> (%y) {
    %y, %z = SequenceMap(%s) [body @b(%e: f32[2]) -> (%e) {}]
  })"),
              "the body gives 1 outputs, but the node has 2");
  EXPECT_PART(ErrorOf(R"(graph @g(%c: bool[]) -> (%y) {
    #k: f32[1] = (1)
    %y = If(%c) [then @t(%extra: f32[1]) -> (%extra) {} else @e() -> (#k) {}]
  })"),
              "takes 1 inputs, but is given 0");
  EXPECT_PART(ErrorOf(R"(graph @g(%n: i64[]) -> (%y) {
    %y = Loop(%n, _, _) [body @b(%i: i64[], %c: bool[], %s: f32[2]) -> (%c, %s) {}]
  })"),
              "input 2 is missing");
}

Result<DatumList> Evaluated(const std::string& text, const DatumList& inputs) {
  InitOps();
  TERN_ASSIGN(auto graph, ParseGraph(text));
  return EvaluateGraph(*graph, inputs);
}

// This loop has no trip count, and its condition stays true.
const char kEndless[] = R"(graph @g(%x: f32[4]) -> (%all) {
  #go: bool[] = (true)
  %last, %all = Loop(_, #go, %x) as "spin" [body @b(%i: i64[], %c: bool[], %s: f32[4]) -> (%c, %s, %s) {}]
})";

TEST(Control, AnEndlessLoopGathersNoMoreThanItMay) {
  InitOps();
  auto graph = ParseGraph(kEndless);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EvaluateLimits limits;
  limits.collect_limit = 100000;
  auto run = EvaluateGraph(**graph, {Datum(Tensor(DType::kF32, {4}))}, {}, limits);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.status().code(), Code::kResourceExhausted);
  for (const char* part : {"spin", "iterations", "bytes, the limit is 100000"})
    EXPECT_PART(run.status().message(), part);
}

TEST(Control, AnEndlessLoopEndsAtItsDeadline) {
  InitOps();
  auto graph = ParseGraph(R"(graph @g(%x: f32[4]) -> (%last) {
    %last = Loop(_, _, %x) [body @b(%i: i64[], %c: bool[], %s: f32[4]) -> (%c, %s) {}]
  })");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EvaluateLimits limits;
  limits.stop.deadline = Stop::Clock::now() + std::chrono::milliseconds(20);
  auto run = EvaluateGraph(**graph, {Datum(Tensor(DType::kF32, {4}))}, {}, limits);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.status().code(), Code::kCancelled);
}

TEST(Control, ARunIsCancelledByItsFlag) {
  InitOps();
  auto graph = ParseGraph("graph @g(%x: f32[4]) -> (%y) { %y = Relu(%x) }");
  ASSERT_TRUE(graph.ok());
  const std::atomic<bool> cancel{true};
  EvaluateLimits limits;
  limits.stop.cancel = &cancel;
  auto run = EvaluateGraph(**graph, {Datum(Tensor(DType::kF32, {4}))}, {}, limits);
  EXPECT_EQ(run.status().code(), Code::kCancelled);
}

TEST(Control, AsksForOneCountAndOnePosition) {
  const Datum none{Tensor(DType::kI64, {0})};
  auto loop = Evaluated(R"(graph @g(%n: i64[*]) -> (%y) {
    #x: f32[1] = (1)
    %y = Loop(%n, _, #x) [body @b(%i: i64[], %c: bool[], %s: f32[1]) -> (%c, %s) {}]
  })",
                        {none});
  EXPECT_PART(loop.status().message(), "trip_count must have one element, got i64[0]");
  auto insert = Evaluated(R"(graph @g(%p: i64[*]) -> (%y) {
    #x: f32[1] = (1)
    %s = SequenceConstruct(#x)
    %t = SequenceInsert(%s, #x, %p)
    %y = SequenceLength(%t)
  })",
                          {none});
  EXPECT_PART(insert.status().message(), "position must have one element, got i64[0]");
}

TEST(Control, StacksNothingAlongANegativeAxis) {
  auto out = Evaluated(R"(graph @g(%s: f32[*]) -> (%y) {
    %y = Scan(%s) {scan_inputs=1, output_axes=[-1]} [body @b(%e: f32[*]) -> (%e) {}]
  })",
                       {Datum(Tensor(DType::kF32, {0, 2}))});
  EXPECT_TRUE(out.ok()) << out.status().ToString();
}

TEST(Control, StacksNothingOfTheDimsItsStateHas) {
  auto out = Evaluated(R"(graph @g(%n: i64[], %x: f32[N,3]) -> (%all) {
    %last, %all = Loop(%n, _, %x) [body @b(%i: i64[], %c: bool[], %s: f32[N,3]) -> (%c, %s, %t) {
      %t = Relu(%s)
    }]
  })",
                       {Datum(Tensor::Scalar(DType::kI64, 0)), Datum(Tensor(DType::kF32, {2, 3}))});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ((*out)[0].tensor.dims(), (Dims{0, 2, 3}));
}

// State k takes over state k - 1 in every turn, so that it needs k turns to notice that state 0 grows.
TEST(Control, ForgetsShapesThatChangeInLateTurns) {
  InitOps();
  constexpr int kStates = 20;
  std::string results, states, inputs, outputs = "%grown";
  for (int i = 0; i < kStates; ++i) {
    results += StrCat(i ? ", " : "", "%y", i);
    states += ", %x";
    inputs += StrCat(", %s", i, ": f32[1]");
    if (i) outputs += StrCat(", %s", i - 1);
  }
  auto graph = ParseGraph(StrCat("graph @g(%n: i64[], %x: f32[1]) -> (", results, ") { ", results,
                                 " = Loop(%n, _", states, ") [body @b(%i: i64[], %c: bool[]", inputs,
                                 ") -> (%c, ", outputs, ") { %grown = Concat(%s0, %s0) {axis=0} }] }"));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  for (const Value* v : (*graph)->outputs())
    EXPECT_FALSE(v->type.shape.fully_known()) << v->name << " " << v->type.ToString();
}

TEST(Control, ForgetsShapesOfTheFirstTurn) {
  InitOps();
  auto graph = ParseGraph(R"(graph @g(%n: i64[], %x: f32[1]) -> (%y) {
    %y, %z = Loop(%n, _, %x) [body @b(%i: i64[], %c: bool[], %s: f32[1]) -> (%c, %t, %u) {
      %t = Concat(%s, %s) {axis=0}
      %u = Identity(%t)
    }]
  })");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const Graph& body = *(*graph)->nodes().front()->subgraphs()[0];
  for (const auto& node : body.nodes())
    EXPECT_FALSE(node->output(0)->type.shape.fully_known()) << node->output(0)->type.ToString();
}

}  // namespace
}  // namespace tern
