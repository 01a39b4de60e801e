// Tests shape inference of Attention: packed operands [batch, length, heads*size], unknown dims, and errors.
#include "ops/test_graph.h"

namespace tern {
namespace {

class AttentionShapes : public ::testing::Test {
 protected:
  AttentionShapes() : b((InitOps(), graph)) {}
  Value* Input(const char* name, const char* type) { return graph.AddInput(name, *Type::Parse(type)); }
  Graph graph;
  Builder b;
};

const AttrList kPacked = {{"q_heads", int64_t{4}}, {"kv_heads", int64_t{2}}, {"merged", true}};

TEST_F(AttentionShapes, Packed) {
  const auto out = b.Ops("Attention",
                         {Input("q", "f32[N,L,64]"), Input("k", "f32[N,S,32]"), Input("v", "f32[N,S,20]"),
                          nullptr, Input("pk", "f32[N,2,P,16]"), Input("pv", "f32[N,2,P,10]")},
                         kPacked, 4);
  ASSERT_TRUE(b.status().ok()) << b.status().ToString();
  EXPECT_EQ(out[0]->type.ToString(), "f32[N,L,40]");
  EXPECT_EQ(out[1]->type.ToString(), Type::Parse("f32[N,2,P+S,16]")->ToString());
  EXPECT_EQ(out[2]->type.ToString(), Type::Parse("f32[N,2,P+S,10]")->ToString());
  EXPECT_EQ(out[3]->type.ToString(), Type::Parse("f32[N,4,L,P+S]")->ToString());
}

TEST_F(AttentionShapes, UnknownDimsStayOpen) {
  Value* any = Input("any", "f32[*]");
  EXPECT_EQ(b.Op("Attention", {any, any, any})->type.ToString(), "f32[?,?,?,?]");
  EXPECT_EQ(b.Op("Attention", {any, any, any}, kPacked)->type.shape.rank(), 3);
  Value* wide = Input("wide", "f32[N,L,E]");
  EXPECT_EQ(b.Op("Attention", {Input("q", "f32[N,L,64]"), any, Input("v", "f32[N,S,10]")}, kPacked)
                ->type.ToString(),
            "f32[N,L,20]");
  EXPECT_EQ(b.Op("Attention", {wide, wide, wide}, kPacked)->type.shape.rank(), 3);
  EXPECT_TRUE(b.status().ok()) << b.status().ToString();
}

TEST_F(AttentionShapes, ContradictionsAreRefused) {
  for (const char* k : {"f32[N,S,33]", "f32[N,3,S,16]", "f32[N,S]", "f32[N,S,30]"}) {
    Graph g;
    Builder builder(g);
    Value* q = g.AddInput("q", *Type::Parse("f32[N,L,64]"));
    Value* kv = g.AddInput("k", *Type::Parse(k));
    builder.Op("Attention", {q, kv, kv}, kPacked);
    EXPECT_FALSE(builder.status().ok()) << k;
  }
}

}  // namespace
}  // namespace tern
