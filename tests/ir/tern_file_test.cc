#include "ir/tern_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ir/builder.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace tern {
namespace {

const char kModel[] = R"(graph @g(%c: bool[], %x: f32[N,2]) -> (%y) {
  meta "k" = "v"
  #w: f32[2,3] = (1, 2, 3, 4, 5, 6)
  #s: string[1] = ("text")
  #i: i4[3] = (1, -2, 3)
  %q = Identity(#s)
  %p = Identity(#i)
  %y = If(%c) [then @t() -> (%a) { %a = MatMul(%x, #w) } else @e() -> (%b) { %b = MatMul(%x, #w) {alpha=2.0} }]
})";

std::unique_ptr<Graph> Model() {
  InitOps();
  auto graph = ParseGraph(kModel);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return std::move(*graph);
}

Buffer BufferOf(const std::string& bytes) {
  Buffer b = Buffer::Allocate(bytes.size());
  std::memcpy(b.data(), bytes.data(), bytes.size());
  return b;
}

TEST(TernFile, RoundTripIsExact) {
  auto graph = Model();
  auto bytes = SaveTernBytes(*graph);
  ASSERT_TRUE(bytes.ok());
  auto loaded = LoadTernBytes(BufferOf(*bytes));
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_EQ(PrintGraphExactly(*graph), PrintGraphExactly(**loaded));
}

TEST(TernFile, ConstantsReferToTheFile) {
  auto bytes = SaveTernBytes(*Model());
  Buffer file = BufferOf(*bytes);
  auto loaded = LoadTernBytes(file);
  ASSERT_TRUE(loaded.ok());
  for (const auto& v : (*loaded)->values())
    if (v->is_constant() && v->constant.dtype() != DType::kString) {
      EXPECT_TRUE(v->constant.buffer().SharesWith(file)) << v->name;
    }
}

// Wherever a bit flips, the loader must notice or the graph must be the same (padding).
TEST(TernFile, EveryFlippedBitIsNoticed) {
  auto graph = Model();
  const std::string bytes = *SaveTernBytes(*graph);
  const std::string text = PrintGraphExactly(*graph);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    auto loaded = LoadTernBytes(BufferOf(damaged));
    if (loaded.ok()) {
      EXPECT_EQ(text, PrintGraphExactly(**loaded)) << "byte " << i;
    }
  }
}

TEST(TernFile, EveryTruncationIsNoticed) {
  const std::string bytes = *SaveTernBytes(*Model());
  size_t data_end = bytes.size() - 64;  // the last blob's padding may go missing without loss
  for (size_t n = 0; n < data_end; ++n) EXPECT_FALSE(LoadTernBytes(BufferOf(bytes.substr(0, n))).ok()) << n;
}

TEST(TernFile, RefusesAnotherMajorVersionAndTakesANewerMinor) {
  std::string bytes = *SaveTernBytes(*Model());
  bytes[12] = 9;  // minor
  EXPECT_TRUE(LoadTernBytes(BufferOf(bytes)).ok());
  bytes[8] = 2;  // major
  auto loaded = LoadTernBytes(BufferOf(bytes));
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.status().message().find("version 2.9"), std::string::npos) << loaded.status().ToString();
}

// Such a file is well formed, with right checksums: only the graph is wrong.
TEST(TernFile, RefusesAnOpWithoutItsGraphs) {
  InitOps();
  Graph g;
  Value* c = g.AddInput("c", Type::TensorOf(DType::kBool, Shape::Of({})));
  Builder b(g);
  g.SetOutputs({b.Open("If", {c}, {}, 1)->output(0)});
  auto loaded = LoadTernBytes(BufferOf(*SaveTernBytes(g)));
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), Code::kInvalidModel);
  EXPECT_NE(loaded.status().message().find("lacks subgraphs"), std::string::npos)
      << loaded.status().ToString();
}

TEST(TernFile, RefusesValuesOfAnotherGraph) {
  auto graph = Model();
  Node* branch = graph->nodes().back().get();
  Builder b(*graph);
  graph->SetOutputs({b.Op("Identity", {branch->subgraphs()[0]->outputs()[0]})});
  auto loaded = LoadTernBytes(BufferOf(*SaveTernBytes(*graph)));
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.status().message().find("out of scope"), std::string::npos) << loaded.status().ToString();
}

}  // namespace
}  // namespace tern
