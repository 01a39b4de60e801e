#include "ir/text.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "ops/ops.h"

namespace tern {
namespace {

class Text : public ::testing::Test {
 protected:
  void SetUp() override { InitOps(); }

  static void ExpectRoundTrip(const std::string& source) {
    auto graph = ParseGraph(source);
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    const std::string text = PrintGraphExactly(**graph);
    auto again = ParseGraph(text);
    ASSERT_TRUE(again.ok()) << again.status().ToString() << "\n" << text;
    EXPECT_EQ(text, PrintGraphExactly(**again));
    EXPECT_TRUE(SameGraph(**graph, **again));
  }

  static std::string ErrorOf(const std::string& source) {
    auto graph = ParseGraph(source);
    return graph.ok() ? "no error" : graph.status().message();
  }
};

TEST_F(Text, ReadsOperatorsNestedCallsAndKinds) {
  auto graph = ParseGraph(R"(graph @mlp(%x: f32[N,4]) -> (%y) {
    #w: f32[4,2] = (1, 2, 3, 4, 5, 6, 7, 8)
    #b: f32[2] = (0.5, -inf)
    %h = MatMul(%x, #w) + #b * #b
    %y: f32[N,2] = Softmax(Relu(%h)) {axis=-1} as "probabilities" from "onnx node #3"
  })");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  std::vector<std::string> ops;
  for (const auto& node : (*graph)->nodes()) ops.push_back(node->op->name);
  EXPECT_EQ(ops, (std::vector<std::string>{"MatMul", "Binary", "Binary", "Unary", "Softmax"}));
  EXPECT_EQ((*graph)->outputs()[0]->type.ToString(), "f32[N,2]");
  EXPECT_EQ((*graph)->nodes().back()->name, "probabilities");
}

TEST_F(Text, RoundTripsEveryElementType) {
  ExpectRoundTrip(R"(graph @"all types"() -> (%"a b", %1) {
    meta "author" = "a \"quoted\" name\n"
    #f: f64[2] = (0.1, nan)
    #h: f16[2] = (1.5, -inf)
    #n: bf16[1] = (3)
    #e: f8e4m3fn[2] = (448, -0.5)
    #i: i4[3] = (-8, 7, 0)
    #u: u64[1] = (18446744073709551615)
    #b: bool[2] = (true, false)
    #s: string[2] = ("x", "\x01\\")
    #c: c64[1] = (1:-2)
    overridable #z: i64[0] = ()
    %"a b" = Identity(#s)
    %1 = Identity(#c)
  })");
}

// Tests every bit pattern of types with up to 16 bits, and some bit patterns of wider types.
TEST_F(Text, KeepsEveryBitOfAFloat) {
  Graph graph("g");
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2,
                            DType::kF8E5M2FNUZ, DType::kF8E8M0, DType::kF4E2M1}) {
    const int bits = BitWidth(dtype);
    Tensor t(dtype, {int64_t{1} << bits});
    for (uint32_t i = 0; i < 1u << bits; ++i) {
      if (bits == 16) t.data<uint16_t>()[i] = static_cast<uint16_t>(i);
      if (bits == 8) t.data<uint8_t>()[i] = static_cast<uint8_t>(i);
      if (bits == 4 && i % 2) t.data<uint8_t>()[i / 2] = static_cast<uint8_t>(i << 4 | (i - 1));
    }
    graph.AddConstant(std::move(t), DTypeName(dtype));
  }
  const std::vector<uint32_t> singles = {0x7fc00000, 0x7fc00001, 0xffc00000, 0x7f800001, 0xffffffff,
                                         0x80000000, 0x00000001, 0x7f7fffff, 0xff800000, 0x3dcccccd};
  const std::vector<uint64_t> doubles = {0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000001,
                                         0xffffffffffffffff, 0x0000000000000001, 0x8000000000000000};
  for (const DType dtype : {DType::kF32, DType::kC64}) {
    Tensor t(dtype, {static_cast<int64_t>(singles.size()) / (IsComplex(dtype) ? 2 : 1)});
    std::memcpy(t.raw(), singles.data(), t.bytes());
    graph.AddConstant(std::move(t), DTypeName(dtype));
  }
  for (const DType dtype : {DType::kF64, DType::kC128}) {
    Tensor t(dtype, {static_cast<int64_t>(doubles.size()) / (IsComplex(dtype) ? 2 : 1)});
    std::memcpy(t.raw(), doubles.data(), t.bytes());
    graph.AddConstant(std::move(t), DTypeName(dtype));
  }
  auto again = ParseGraph(PrintGraphExactly(graph));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  auto got = (*again)->values().begin();
  for (const auto& v : graph.values()) EXPECT_TRUE(SameTensor(v->constant, (*got++)->constant)) << v->name;
}

TEST_F(Text, WritesTheBitsOfAnOddNan) {
  ExpectRoundTrip("graph @g() -> (#c) { #c: f32[3] = (nan, nan(0xffc00000), nan(0x7fc00001)) }");
  ExpectRoundTrip(R"(graph @g(%x: f32[2]) -> (%y) {
    %y = Activation(%x) {kind="leaky_relu", alpha=nan(0xffc00001)}
  })");
  EXPECT_NE(ErrorOf("graph @g() -> (#c) { #c: f32[1] = (nan(0x3f800000)) }").find("is not a f32"),
            std::string::npos);
  EXPECT_NE(ErrorOf("graph @g() -> (#c) { #c: f16[1] = (nan(0x7fc00001)) }").find("is not a f16"),
            std::string::npos);
  EXPECT_NE(ErrorOf("graph @g() -> (#c) { #c: f32[1] = (nan(").find("bits of a NaN"), std::string::npos);
}

TEST_F(Text, RoundTripsSubgraphsThatCapture) {
  ExpectRoundTrip(R"(graph @g(%c: bool[], %x: f32[2]) -> (%y) {
    %y = If(%c) [then @t() -> (%a) { %a = %x + %x } else @e() -> (%a) { %a = Neg(%x) }]
  })");
}

TEST_F(Text, NamesThePlaceOfAMistake) {
  EXPECT_EQ(ErrorOf("graph @g(%x: f32[2]) -> (%y) {\n  %y = Nonsense(%x)\n}"),
            "no op named 'Nonsense' at line 2, column 8");
  EXPECT_EQ(ErrorOf("graph @g() -> (%y) {\n  %y = Identity(%x)\n}"),
            "%x is read before it is defined, at line 2, column 17");
  EXPECT_EQ(ErrorOf("graph @g() -> () { #c: f32[2] = (1) }"),
            "f32[2] needs 2 elements, but has 1 at line 1, column 33");
  EXPECT_EQ(ErrorOf("graph @g() -> () { #c: f32[2] = (1, x) }"), "'x' is not a f32 at line 1, column 37");
  EXPECT_NE(ErrorOf("graph @g(%x: f99[2]) -> () {}").find("unknown element type 'f99'"), std::string::npos);
  EXPECT_NE(ErrorOf("graph @g(%x: f32[2]) -> (%x").find("expected"), std::string::npos);
}

TEST_F(Text, RoundTripsOddNames) {
  ExpectRoundTrip(R"(graph @"a//b"(%"x//y": f32[2], %"~": f32[2], %"1": f32[2], %/x: f32[2]) -> (%"\"q\"") {
    %"\"q\"" = Identity(%"x//y") as "//"
  })");
  for (const char* name : {"/g", ".g", "", "graph", "1"}) {
    Graph graph(name);
    auto again = ParseGraph(PrintGraphExactly(graph));
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ((*again)->name, name);
  }
}

TEST_F(Text, RefusesElementsBeyondTheirType) {
  EXPECT_NE(ErrorOf("graph @g() -> (#c) { #c: u8[1] = (300) }").find("'300' is not a u8"), std::string::npos);
  EXPECT_NE(ErrorOf("graph @g() -> (#c) { #c: u64[1] = (18446744073709551616) }").find("is not a u64"),
            std::string::npos);
  EXPECT_EQ(ErrorOf("graph @g() -> (#c) { #c: u64[1] = (18446744073709551615) }"), "no error");
  EXPECT_NE(ErrorOf("graph @g() -> (#c) { #c: c64[1] = (1:").find("expected an imaginary part, got the end"),
            std::string::npos);
}

TEST_F(Text, LeavesOutLongConstantsUnlessAsked) {
  auto graph = ParseGraph("graph @g() -> (%y) { #c: f32[3] = (1, 2, 3)\n %y = Identity(#c) }");
  ASSERT_TRUE(graph.ok());
  PrintOptions brief;
  brief.max_elements = 2;
  const std::string text = PrintGraph(**graph, brief);
  EXPECT_NE(text.find("(...)"), std::string::npos);
  EXPECT_NE(ErrorOf(text).find("left out"), std::string::npos);
}

// Parses every graph that the documentation shows.
TEST_F(Text, ReadsTheDocumentationsGraphs) {
  std::ifstream file(TERN_DOCS "/architecture/ir.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string fence = "```", head = fence + "graph\n";
  int graphs = 0;
  for (size_t at = page.find(head); at != std::string::npos; at = page.find(head, at), ++graphs) {
    const size_t begin = at + head.size();
    at = page.find(fence, begin);
    ExpectRoundTrip(page.substr(begin, at - begin));
  }
  EXPECT_GT(graphs, 0);
}

}  // namespace
}  // namespace tern
