#include "ir/verify.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ops/ops.h"

namespace tern {
namespace {

const Type kVector = Type::TensorOf(DType::kF32, Shape::Of({2}));

TEST(Verify, AcceptsAGoodGraphAndItsClone) {
  InitOps();
  Graph g;
  Value* x = g.AddInput("x", kVector);
  Builder b(g);
  g.SetOutputs({b.Op("Identity", {x})});
  EXPECT_TRUE(VerifyGraph(g).ok()) << VerifyGraph(g).ToString();
  EXPECT_TRUE(VerifyGraph(*g.Clone()).ok());
}

TEST(Verify, NamesAValueReadBeforeItIsMade) {
  InitOps();
  Graph g;
  Value* x = g.AddInput("x", kVector);
  Builder b(g);
  Value* first = b.Op("Identity", {x});
  Value* second = b.Op("Identity", {first});
  first->name = "first";
  first->producer->SetInput(0, second);
  g.SetOutputs({second});
  EXPECT_NE(VerifyGraph(g).message().find("before it is defined"), std::string::npos);
  EXPECT_NE(g.SortNodes().message().find("cycle"), std::string::npos);
}

TEST(Verify, NamesAValueOutOfScope) {
  InitOps();
  Graph g;
  Value* c = g.AddInput("c", Type::TensorOf(DType::kBool, Shape::Of({})));
  Value* x = g.AddInput("x", kVector);
  Builder b(g);
  Node* branch = b.Open("If", {c}, {}, 1);
  for (const char* role : {"then", "else"}) {
    Graph* sub = g.AddSubgraph(branch, role);
    Builder inside(*sub);
    sub->SetOutputs({inside.Op("Identity", {x})});
  }
  b.Finish(branch);
  Value* hidden = branch->subgraphs()[0]->outputs()[0];
  g.SetOutputs({b.Op("Identity", {hidden})});
  EXPECT_NE(VerifyGraph(g).message().find("out of scope"), std::string::npos);
}

TEST(Verify, NoticesAUseThatIsNoRead) {
  InitOps();
  Graph g;
  Value* x = g.AddInput("x", kVector);
  Builder b(g);
  Value* y = b.Op("Identity", {x});
  g.SetOutputs({y});
  x->uses.emplace_back(y->producer, 0);
  EXPECT_NE(VerifyGraph(g).message().find("the use list of 'x'"), std::string::npos);
  x->uses.clear();
  EXPECT_NE(VerifyGraph(g).message().find("the use list of 'x'"), std::string::npos);
}

// If an edit searched all values or uses, this test would take minutes.
TEST(Verify, EditsALargeGraphInLinearTime) {
  InitOps();
  Graph g;
  Value* x = g.AddInput("x", kVector);
  Builder b(g);
  constexpr int kCount = 60000;
  for (int i = 0; i < kCount; ++i) b.Op("Identity", {x});
  Value* y = b.Op("Identity", {x});
  g.SetOutputs({y});
  EXPECT_TRUE(VerifyGraph(g).ok());
  Value* z = g.AddInput("z", kVector);
  g.ReplaceUses(x, z);
  EXPECT_TRUE(x->uses.empty());
  EXPECT_EQ(z->uses.size(), size_t{kCount} + 1);
  EXPECT_EQ(g.RemoveDeadNodes(), kCount);
  EXPECT_EQ(g.values().size(), 3u);
  EXPECT_TRUE(VerifyGraph(g).ok()) << VerifyGraph(g).ToString();
}

TEST(Verify, SortsNodesOfAnyOrder) {
  InitOps();
  Graph g;
  Value* x = g.AddInput("x", kVector);
  Builder b(g);
  Value* early = b.Op("Identity", {x});
  Value* late = b.Op("Identity", {x});
  early->producer->SetInput(0, late);
  g.SetOutputs({early});
  EXPECT_FALSE(VerifyGraph(g).ok());
  EXPECT_TRUE(g.SortNodes().ok());
  EXPECT_TRUE(VerifyGraph(g).ok());
}

TEST(Builder, AnAttributeErrorNamesTheNodeOnlyIfItHasAName) {
  InitOps();
  Graph graph;
  Value* x = graph.AddInput("x", Type::TensorOf(DType::kF32, Shape({Dim(2)})));
  Builder nameless(graph), named(graph);
  nameless.Op("Unary", {x}, {{"kind", "square_root"}});
  EXPECT_TRUE(StartsWith(nameless.status().message(), "a node (Unary): attribute 'kind': expected "))
      << nameless.status().message();
  named.At("act", "Sqrt, layer 1");
  named.Op("Unary", {x}, {{"kind", "square_root"}});
  EXPECT_TRUE(StartsWith(named.status().message(), "node 'act' (Unary, Sqrt, layer 1): attribute 'kind': "))
      << named.status().message();
}

}  // namespace
}  // namespace tern
