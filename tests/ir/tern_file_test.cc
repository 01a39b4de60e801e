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
  auto again = SaveTernBytes(**loaded);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(*again == *bytes) << "saving again changes the file";
}

// The bytes of the file depend only on the graph, not on the order in which nodes and constants were added
// and removed.
TEST(TernFile, DoesNotTellHowTheGraphCameAbout) {
  InitOps();
  Graph graph("g");
  Builder b(graph);
  Value* x = graph.AddInput("x", Type::TensorOf(DType::kF32, Shape({2})));
  Value* y = b.Op("Binary", {x, b.Const(Tensor::Of(DType::kF32, {2}, {1, 2}))}, {{"kind", "add"}});
  graph.AddConstant(Tensor::Ints({7}), "gone");
  graph.RemoveUnusedConstants();
  Value* z = b.Op("Binary", {y, b.Const(Tensor::Of(DType::kF32, {2}, {1, 2}))}, {{"kind", "mul"}});
  graph.SetOutputs({z});
  auto bytes = SaveTernBytes(graph);
  ASSERT_TRUE(bytes.ok());
  auto loaded = LoadTernBytes(BufferOf(*bytes));
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  auto again = SaveTernBytes(**loaded);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(*again == *bytes);
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

// Views and copies of the same bytes are stored as one blob.
TEST(TernFile, EqualBytesAreWrittenOnce) {
  InitOps();
  Graph graph("g");
  const Tensor big = Tensor::Of(DType::kF32, {64, 64}, std::vector<double>(4096, 0.5));
  graph.AddConstant(big, "a");
  graph.AddConstant(big.Reshaped({4096}), "b");
  graph.AddConstant(big.Clone(), "c");
  graph.AddConstant(Tensor::View(big.buffer(), DType::kI32, {32, 64}), "half");
  const Tensor words = Tensor::Strings({1}, {std::string(10000, 'x')});
  graph.AddConstant(words, "s");
  graph.AddConstant(words, "t");
  auto bytes = SaveTernBytes(graph);
  ASSERT_TRUE(bytes.ok());
  EXPECT_LT(bytes->size(), big.bytes() * 3 / 2 + 10000 + 2000);
  auto loaded = LoadTernBytes(BufferOf(*bytes));
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_EQ(PrintGraphExactly(graph), PrintGraphExactly(**loaded));
  const auto first = (*loaded)->values().begin();
  EXPECT_EQ((*first)->constant.raw(), (*std::next(first, 2))->constant.raw());
  auto again = SaveTernBytes(**loaded);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(*again == *bytes);
}

TEST(TernFile, RefusesToSaveTypesItCannotLoad) {
  InitOps();
  for (const int depth : {kMaxTypeDepth, kMaxTypeDepth + 1}) {
    Type type = Type::TensorOf(DType::kF32);
    for (int i = 0; i < depth; ++i) type = i % 2 ? Type::SequenceOf(type) : Type::OptionalOf(type);
    Graph graph("g");
    graph.SetOutputs({graph.AddInput("deep", type)});
    auto bytes = SaveTernBytes(graph);
    if (depth <= kMaxTypeDepth) {
      ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
      EXPECT_TRUE(LoadTernBytes(BufferOf(*bytes)).ok());
      EXPECT_TRUE(ParseGraph(PrintGraphExactly(graph)).ok());
      continue;
    }
    ASSERT_FALSE(bytes.ok());
    EXPECT_NE(bytes.status().message().find("value 'deep' of graph 'g' has a type nested 17 deep"),
              std::string::npos)
        << bytes.status().message();
    auto parsed = ParseGraph(PrintGraphExactly(graph));
    ASSERT_FALSE(parsed.ok());
    EXPECT_NE(parsed.status().message().find("nested deeper than 16"), std::string::npos)
        << parsed.status().message();
  }
}

// Flips one bit in each byte of the file. The loader must return an error or, if the bit is padding, the same
// graph.
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
  size_t data_end = bytes.size() - 64;  // a file without the padding of its last blob is valid
  for (size_t n = 0; n < data_end; ++n) EXPECT_FALSE(LoadTernBytes(BufferOf(bytes.substr(0, n))).ok()) << n;
}

TEST(TernFile, RefusesAnotherMajorVersionAndTakesANewerMinor) {
  std::string bytes = *SaveTernBytes(*Model());
  bytes[12] = 9;  // the minor version
  EXPECT_TRUE(LoadTernBytes(BufferOf(bytes)).ok());
  bytes[8] = 2;  // the major version
  auto loaded = LoadTernBytes(BufferOf(bytes));
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.status().message().find("version 2.9"), std::string::npos) << loaded.status().ToString();
}

// The file is well formed and its checksums are correct. Only the graph is invalid.
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
