#include <gtest/gtest.h>

#include "import/testing.h"
#include "import/torch/testing.h"

namespace tern::torch {
namespace {

Result<std::unique_ptr<Graph>> Read(const std::string& program) {
  return load::ReadForTest(ArchiveOf(program));
}

std::string ErrorOf(const std::string& program) {
  const auto graph = Read(program);
  return graph.ok() ? "no error" : graph.status().message();
}

std::string Relu(const std::string& input = "x") {
  return NodeOf("torch.ops.aten.relu.default", {{"self", input}}, "y");
}

TEST(Program, ReadsANode) {
  const auto graph = Read(ProgramOf(Relu()));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  ASSERT_EQ((*graph)->outputs().size(), 1u);
  EXPECT_EQ((*graph)->outputs()[0]->name, "y");
  EXPECT_EQ((*graph)->outputs()[0]->type.ToString(), "f32[2,3]");
}

TEST(Program, KeepsSymbolicSizes) {
  const auto graph = Read(
      ProgramOf(Relu(), "y", "{\"as_expr\":{\"expr_str\":\"Symbol('s0', integer=True)\"}},{\"as_int\":3}"));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->outputs()[0]->type.ToString(), "f32[s0,3]");
}

TEST(Program, AnInputMayBeAnOutput) {
  const auto graph = Read(ProgramOf("", "x"));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->NodeCount(), 1);
}

TEST(Program, WritesReachAllViews) {
  const std::string nodes = NodeOf("torch.ops.aten.relu.default", {{"self", "x"}}, "a") + "," +
                            NodeOf("torch.ops.aten.t.default", {{"self", "a"}}, "b") + "," +
                            NodeOf("torch.ops.aten.neg_.default", {{"self", "a"}}, "c") + "," +
                            NodeOf("torch.ops.aten.abs.default", {{"self", "b"}}, "y");
  const auto graph = Read(ProgramOf(nodes));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  // y = abs(transpose(neg(relu(x)))): the view b is computed again after the write.
  const Node* abs = (*graph)->outputs()[0]->producer;
  const Node* transpose = abs->input(0)->producer;
  EXPECT_EQ(transpose->op->name, "Transpose");
  EXPECT_EQ(transpose->input(0)->producer->op->name, "Unary");
  EXPECT_EQ((*graph)->outputs()[0]->type.ToString(), "f32[3,2]");
}

TEST(Program, ListsAllUnsupportedOperators) {
  const std::string nodes = NodeOf("torch.ops.aten.frobnicate.default", {{"self", "x"}}, "a") + "," +
                            NodeOf("torch.ops.custom.op.default", {{"self", "a"}}, "y");
  const std::string error = ErrorOf(ProgramOf(nodes));
  EXPECT_NE(error.find("aten::frobnicate.default x1 at 'a'"), std::string::npos) << error;
  EXPECT_NE(error.find("custom::op.default x1 at 'y'"), std::string::npos) << error;
}

TEST(Program, RefusesBrokenPrograms) {
  EXPECT_NE(ErrorOf("{").find("is not JSON"), std::string::npos);
  EXPECT_EQ(ErrorOf("{}"), "the program's JSON is broken: 'graph_module' is missing");
  EXPECT_NE(ErrorOf(ProgramOf(Relu("z"))).find("the value 'z' does not exist"), std::string::npos);
  EXPECT_NE(ErrorOf(ProgramOf(Relu(), "q")).find("the value 'q' does not exist"), std::string::npos);
  EXPECT_NE(ErrorOf(ProgramOf(NodeOf("torch.ops.aten.relu.default", {{"other", "x"}}, "y")))
                .find("has no argument 'other'"),
            std::string::npos);
  EXPECT_NE(ErrorOf(ProgramOf(Relu(), "y", "{\"as_int\":-2}")).find("a tensor has the size -2"),
            std::string::npos);
  const auto graph = load::ReadForTest(ZipOf({{"archive_format", "pt2"}}));
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("the archive has no program"), std::string::npos);
}

TEST(Program, RefusesDeepNesting) {
  std::string body = "{\"inputs\":[],\"outputs\":[],\"nodes\":[]}";
  for (int i = 0; i < 150; ++i)
    body =
        "{\"inputs\":[],\"outputs\":[],\"nodes\":[{\"target\":\"torch.ops.higher_order.wrap\",\"inputs\":[{\"name\":\"\","
        "\"arg\":{\"as_graph\":{\"name\":\"g\",\"graph\":" +
        body + "}}}],\"outputs\":[]}]}";
  const std::string node =
      "{\"target\":\"torch.ops.higher_order.wrap\",\"inputs\":[{\"name\":\"\",\"arg\":{\"as_graph\":{"
      "\"name\":\"g\",\"graph\":" +
      body + "}}}],\"outputs\":[]}";
  EXPECT_NE(ErrorOf(ProgramOf(node, "x")).find("nest"), std::string::npos);
}

}  // namespace
}  // namespace tern::torch
