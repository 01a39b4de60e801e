#include "ir/text.h"

#include <gtest/gtest.h>

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

TEST_F(Text, RoundTripsSubgraphsThatCapture) {
  ExpectRoundTrip(R"(graph @g(%c: bool[], %x: f32[2]) -> (%y) {
    %y = If(%c) [then @t() -> (%a) { %a = %x + %x } else @e() -> (%a) { %a = Neg(%x) }]
  })");
}

TEST_F(Text, NamesThePlaceOfAMistake) {
  EXPECT_EQ(ErrorOf("graph @g(%x: f32[2]) -> (%y) {\n  %y = Nonsense(%x)\n}"),
            "no op named 'Nonsense' at line 2, column 8");
  EXPECT_EQ(ErrorOf("graph @g() -> (%y) {\n  %y = Identity(%x)\n}"),
            "%x is not made before it is read, at line 2, column 17");
  EXPECT_EQ(ErrorOf("graph @g() -> () { #c: f32[2] = (1) }"),
            "f32[2] needs 2 elements, has 1 at line 1, column 33");
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

}  // namespace
}  // namespace tern
