#include "passes/batch/set_batch.h"

#include <gtest/gtest.h>

#include "ir/evaluate.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/ops.h"

namespace tern {
namespace {

std::unique_ptr<Graph> Parse(const std::string& text) {
  InitOps();
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return std::move(*graph);
}

std::string ErrorOf(const std::string& text, int64_t batch) {
  const Status status = SetBatch(*Parse(text), batch);
  EXPECT_TRUE(status.ok() || status.code() == Code::kInvalidArgument) << status.ToString();
  return status.ok() ? "no error" : status.message();
}

Tensor Counting(const Dims& dims, double first) {
  Tensor t(DType::kF32, dims);
  for (int64_t i = 0; i < t.size(); ++i) StoreDouble(t, i, first + static_cast<double>(i % 11) * 0.25);
  return t;
}

std::vector<double> RunOf(const Graph& graph, const Tensor& x) {
  auto y = EvaluateGraph(graph, {Datum(x)});
  EXPECT_TRUE(y.ok()) << y.status().ToString();
  std::vector<double> out;
  if (y.ok())
    for (int64_t i = 0; i < (*y)[0].tensor.size(); ++i) out.push_back(LoadDouble((*y)[0].tensor, i));
  return out;
}

// Expects that a batch of three gives the same results as three runs with one item.
void ExpectItems(const std::string& text) {
  const auto one = Parse(text), three = Parse(text);
  const Status status = SetBatch(*three, 3);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_TRUE(VerifyGraph(*three).ok());
  ASSERT_EQ(three->outputs()[0]->type.shape[0].ToString(), "3") << PrintGraph(*three);
  Dims item = one->inputs()[0]->type.shape.Concrete(), all = item;
  all[0] = 3;
  Tensor batch(DType::kF32, all);
  std::vector<double> wanted;
  for (int64_t i = 0; i < 3; ++i) {
    const Tensor x = Counting(item, static_cast<double>(i));
    for (int64_t k = 0; k < x.size(); ++k) StoreDouble(batch, i * x.size() + k, LoadDouble(x, k));
    for (const double v : RunOf(*one, x)) wanted.push_back(v);
  }
  EXPECT_EQ(RunOf(*three, batch), wanted) << PrintGraph(*three);
}

TEST(SetBatch, NodesThatTakeAnySize) {
  ExpectItems(
      "graph @g(%x: f32[1,4]) -> (%y) { #w: f32[4,2] = (1,2,3,4,5,6,7,8) %y = Relu(MatMul(%x, #w)) }");
}

TEST(SetBatch, ReshapeToAConstantShape) {
  for (const char* target :
       {"[2] = (1, -1)", "[2] = (1, 12)", "[3] = (1, 4, 3)", "[3] = (1, -1, 2)", "[4] = (1, 1, 4, 3)"})
    ExpectItems(StrCat("graph @g(%x: f32[1,2,6]) -> (%y) { #s: i64", target, " %y = Reshape(%x, #s) }"));
}

// Reshapes the rows of all items into one matrix, and back.
TEST(SetBatch, ReshapeThatJoinsTheBatchWithOtherDims) {
  ExpectItems(R"(graph @g(%x: f32[1,2,3]) -> (%y) {
    #w: f32[3,2] = (1,2,3,4,5,6)
    #rows: i64[2] = (2, 3)
    #back: i64[3] = (1, 2, 2)
    %m = MatMul(Reshape(%x, #rows), #w)
    %y = Reshape(%m, #back)
  })");
}

// As in torch's attention, dim 0 is the sequence, and a Reshape merges the batch with the heads.
TEST(SetBatch, BatchBehindTheSequence) {
  ExpectItems(R"(graph @g(%x: f32[1,5,4]) -> (%y) {
    #heads: i64[3] = (5, 2, 2)
    #joined: i64[2] = (5, 4)
    #back: i64[3] = (5, 1, 4)
    %t = Transpose(%x) {perm=[1,0,2]}
    %h = Transpose(Reshape(%t, #heads)) {perm=[1,0,2]}
    %s = Softmax(MatMul(%h, Transpose(%h) {perm=[0,2,1]})) {axis=-1}
    %c = Transpose(MatMul(%s, %h)) {perm=[1,0,2]}
    %o = Reshape(Reshape(%c, #joined), #back)
    %y = Transpose(%o) {perm=[1,0,2]}
  })");
}

TEST(SetBatch, SliceOfTheAxesBeforeTheBatch) {
  ExpectItems(R"(graph @g(%x: f32[1,5,4]) -> (%y) {
    #start: i64[1] = (1)
    #end: i64[1] = (4)
    #step: i64[1] = (2)
    %t = Transpose(%x) {perm=[1,0,2]}
    %s = Slice(%t, #start, #end, _, #step)
    %y = Transpose(%s) {perm=[1,0,2]}
  })");
}

TEST(SetBatch, OperandsForOneItemAreRepeated) {
  ExpectItems(R"(graph @g(%x: f32[1,2,3]) -> (%y) {
    #token: f32[1,1,3] = (7, 8, 9)
    %y = Concat(#token, %x) {axis=1}
  })");
}

TEST(SetBatch, NamesTheNodeThatCannotBeAdapted) {
  const std::string first = ErrorOf(
      "graph @g(%x: f32[1,4]) -> (%y) { #i: i64[1] = (0) %y = Gather(%x, #i) {axis=0} as \"pick\" }", 3);
  EXPECT_EQ(first.find("the model cannot have a batch of 3 in place of 1: node 'pick'"), 0u) << first;
  EXPECT_NE(first.find("does not work with another batch size: its result for f32[batch,4]"),
            std::string::npos)
      << first;
  const std::string sum = ErrorOf(
      "graph @g(%x: f32[2,4]) -> (%y) { #w: f32[2,4] = (1,2,3,4,5,6,7,8) %y = Binary(%x, #w) {kind=\"add\"} as \"sum\" }",
      3);
  EXPECT_NE(sum.find("node 'sum'"), std::string::npos) << sum;
}

// These nodes work along the axis that contains the items. In some graphs, a Reshape has merged this axis
// with another axis.
TEST(SetBatch, RefusesNodesThatMixItems) {
  const std::pair<const char*, const char*> bodies[] = {
      {"#a: i64[] = (0) %y = CumSum(%x, #a) as \"mix\"", "it works along axis 0, which contains the items"},
      {"%y = LayerNorm(%x) {axis=0} as \"mix\"", "it works along axis 0"},
      {"%y = Softmax(%x) {axis=0} as \"mix\"", "it works along axis 0"},
      {"#r: i64[2] = (3, 4) #b: i64[3] = (1, 3, 4) "
       "%s = Softmax(Reshape(%x, #r)) {axis=0} as \"mix\" %y = Reshape(%s, #b)",
       "it works along axis 0"},
      {"#r: i64[2] = (3, 4) #c: f32[3,1] = (1, 2, 3) %y = Binary(Reshape(%x, #r), #c) {kind=\"mul\"} as \"mix\"",
       ""},
      {"%t = Transpose(%x) {perm=[1,0,2]} %y = MatMul(%t, %t) {transpose_b=true} as \"mix\"",
       "it multiplies each item with all others"},
      {"%y = Concat(%x, %x) {axis=0} as \"mix\"", "it works along axis 0"},
      {"#f: i64[1] = (0) #e: i64[1] = (9) #a: i64[1] = (0) #s: i64[1] = (-1) %y = Slice(%x, #e, #f, #a, #s) as \"mix\"",
       "node 'mix'"},
      {"#i: f32[1,1,4] = (1,2,3,4) #w: f32[3,1,1] = (1,2,3) %y = Conv(#i, #w, _, %x) as \"mix\"",
       "its input 0 does not contain items, but other inputs do"},
      {"#c: bool[3] = (1,0,1) %y = Compress(%x, #c) {axis=1} as \"mix\"",
       "it is not known to process each item independently: the condition may drop items"},
      {"%n = Cast(Size(%x)) {to=f32} %y = Binary(%x, %n) {kind=\"div\"} as \"mix\"",
       "depend on the batch size"},
  };
  for (const auto& [body, says] : bodies) {
    const std::string error = ErrorOf(StrCat("graph @g(%x: f32[1,3,4]) -> (%y) { ", body, " }"), 3);
    EXPECT_NE(error.find("node 'mix'"), std::string::npos) << body << "\n" << error;
    EXPECT_NE(error.find(says), std::string::npos) << body << "\n" << error;
  }
}

// The same ops along other axes process each item independently.
TEST(SetBatch, NodesThatWorkAlongOtherAxes) {
  for (
      const char* body :
      {"#a: i64[] = (1) %y = CumSum(%x, #a)", "%y = LayerNorm(%x) {axis=1}", "%y = Softmax(%x) {axis=1}",
       "#r: i64[2] = (3, 4) #b: i64[3] = (1, 3, 4) %s = Softmax(Reshape(%x, #r)) {axis=1} %y = Reshape(%s, #b)",
       "#f: i64[1] = (0) #e: i64[1] = (9223372036854775807) #a: i64[1] = (0) %y = Slice(%x, #f, #e, #a)",
       "%y = MatMul(%x, %x) {transpose_b=true}",
       "%t = Einsum(%x, %x) {equation=\"bij,bkj->ikb\"} %y = Transpose(%t) {perm=[2,0,1]}"})
    ExpectItems(StrCat("graph @g(%x: f32[1,3,4]) -> (%y) { ", body, " }"));
}

// Tests a Slice whose end is a large number, and a Reshape whose sizes inference cannot simplify.
TEST(SetBatch, DimsThatAreTheBatchOrDoNotDependOnIt) {
  ExpectItems(
      "graph @g(%x: f32[1,3]) -> (%y) { #f: i64[2] = (0,1) #e: i64[2] = (1000000000,1000000000) %y = Slice(%x, #f, #e) }");
  const std::string slice =
      "graph @g(%x: f32[1,3]) -> (%y) { #f: i64[1] = (0) #e: i64[1] = (2) %y = Slice(%x, #f, #e) }";
  EXPECT_TRUE(SetBatch(*Parse(slice), 2).ok());
  EXPECT_NE(ErrorOf(slice, 3).find(" is f32[min(2,batch),3]"), std::string::npos) << ErrorOf(slice, 3);
  auto open = Parse(R"(graph @g(%x: f32[1,S,8]) -> (%y) {
    #rest: i64[2] = (-1, 4)
    %n = Shape(%x) {start=0, end=2}
    %y = Softmax(Reshape(%x, Concat(%n, #rest) {axis=0})) {axis=-1}
  })");
  const Status status = SetBatch(*open, 3);
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST(SetBatch, Sequences) {
  const auto graph = [](int axis) {
    return StrCat(
        "graph @g(%x: f32[1,4,2]) -> (%y) { #s: i64[] = (2) #i: i64[] = (0) %l = SplitToSequence(%x, #s) ",
        "{axis=1} %e = SequenceInsert(%l, SequenceAt(%l, #i)) %y = ConcatFromSequence(%e) {axis=", axis,
        "} as \"join\" }");
  };
  ExpectItems(graph(1));
  ExpectItems(graph(2));
  const std::string error = ErrorOf(graph(0), 3);
  EXPECT_NE(error.find("node 'join'"), std::string::npos) << error;
  EXPECT_NE(error.find("it works along axis 0"), std::string::npos) << error;
}

TEST(SetBatch, Bodies) {
  const auto loop = [](const char* body) {
    return StrCat("graph @g(%x: f32[1,2,2]) -> (%y) { #n: i64[] = (3) %y = Loop(#n, _, %x) ",
                  "[body @b(%i: i64[], %c: bool[], %s: f32[1,2,2]) -> (%c, %z) { ", body, " }] }");
  };
  ExpectItems(loop("%z = Softmax(%s + %x) {axis=1}"));
  const std::string mixes = ErrorOf(loop("%z = Softmax(%s + %x) {axis=0} as \"mix\""), 3);
  EXPECT_NE(mixes.find("node 'mix'"), std::string::npos) << mixes;
  const std::string moves = ErrorOf(loop("%z = Transpose(%s) {perm=[1,0,2]}"), 3);
  EXPECT_NE(moves.find("its body changes the state f32[batch,2,2] to f32[2,batch,2]"), std::string::npos)
      << moves;
}

TEST(SetBatch, SymbolicAndUnchangedBatches) {
  auto open = Parse("graph @g(%x: f32[N,4], %z: f32[N]) -> (%y) { %y = Relu(%x) }");
  ASSERT_TRUE(SetBatch(*open, 6).ok());
  EXPECT_EQ(open->outputs()[0]->type.ToString(), "f32[6,4]");
  EXPECT_EQ(open->inputs()[1]->type.ToString(), "f32[6]");
  auto same = Parse("graph @g(%x: f32[2,4]) -> (%y) { %y = Relu(%x) }");
  EXPECT_TRUE(SetBatch(*same, 2).ok());
  EXPECT_NE(ErrorOf("graph @g(%x: f32[2]) -> (%y) { %y = Relu(%x) }", 0).find("at least 1"),
            std::string::npos);
  EXPECT_NE(ErrorOf("graph @g(%x: f32[]) -> (%y) { %y = Relu(%x) }", 2).find("no input"), std::string::npos);
}

// Inputs whose dim 0 differs from the batch size keep their dims.
TEST(SetBatch, OtherInputsKeepTheirDims) {
  auto g = Parse("graph @g(%x: f32[1,4], %w: f32[4,4], %b: f32[1,4]) -> (%y) { %y = MatMul(%x, %w) + %b }");
  ASSERT_TRUE(SetBatch(*g, 5).ok());
  EXPECT_EQ(g->inputs()[1]->type.ToString(), "f32[4,4]");
  EXPECT_EQ(g->inputs()[2]->type.ToString(), "f32[5,4]");
  EXPECT_EQ(g->outputs()[0]->type.ToString(), "f32[5,4]");
}

TEST(SetBatch, BodiesOfFusedGroups) {
  ExpectItems(R"(graph @g(%x: f32[1,4]) -> (%y) {
    #s: i64[2] = (1, 4)
    %a = Fused(%x) [body @f(%u: f32[1,4]) -> (%r) {
      #t: i64[3] = (1, 2, 2)
      %v = Relu(%u)
      %r = Reshape(%v, #t)
    }]
    %y = Reshape(%a, #s)
  })");
}

}  // namespace
}  // namespace tern
