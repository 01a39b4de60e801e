#include "import/tensorflow/importer.h"

#include <gtest/gtest.h>

#include "import/testing.h"

namespace tern {
namespace {

const std::string kInput =
    R"(node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 3 } } } } } versions { producer: 1000 } )";

Result<std::unique_ptr<Graph>> Read(const std::string& nodes) { return load::ReadForTest(kInput + nodes); }

std::string MessageOf(const std::string& nodes) {
  const auto graph = Read(nodes);
  return graph.ok() ? "" : graph.status().message();
}

TEST(TensorFlow, ReadsAGraphAsText) {
  const auto graph =
      Read(R"(node { name: "y" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } })");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  ASSERT_EQ((*graph)->outputs().size(), 1u);
  EXPECT_EQ((*graph)->outputs()[0]->name, "y");
  EXPECT_EQ((*graph)->outputs()[0]->type.ToString(), "f32[x_0,3]");
  EXPECT_EQ((*graph)->inputs()[0]->name, "x");
}

TEST(TensorFlow, ListsAllUnsupportedOperators) {
  const std::string said =
      MessageOf(R"(node { name: "a" op: "Zebra" input: "x" } node { name: "b" op: "Yak" input: "a" }
    node { name: "c" op: "Zebra" input: "b" })");
  EXPECT_NE(said.find("Zebra x2 at"), std::string::npos) << said;
  EXPECT_NE(said.find("Yak x1 at 'b'"), std::string::npos) << said;
}

TEST(TensorFlow, RefusesBrokenGraphs) {
  EXPECT_EQ(
      MessageOf(
          R"(node { name: "y" op: "Relu" input: "z" } node { name: "w" op: "Add" input: "x" input: "y" })"),
      "node 'z' does not exist");
  EXPECT_NE(
      MessageOf(
          R"(node { name: "y" op: "Relu" input: "y2" } node { name: "y2" op: "Add" input: "y" input: "x" }
    node { name: "z" op: "Abs" input: "y2" })")
          .find("is part of a cycle"),
      std::string::npos);
  EXPECT_EQ(MessageOf(R"(node { name: "x" op: "Relu" input: "x" })"), "two nodes are called 'x'");
  EXPECT_NE(MessageOf(R"(node { name: "y" op: "Conv2D" input: "x" })").find("'y' (Conv2D)"),
            std::string::npos);
  EXPECT_NE(MessageOf(R"(node { name: "y" op: "MatMul" input: "x" })").find("input 1 is missing"),
            std::string::npos);
  EXPECT_FALSE(load::ReadForTest("node { name: 3 }").ok());
}

TEST(TensorFlow, RefusesRecursiveFunctions) {
  const std::string said = MessageOf(R"(node { name: "y" op: "f" input: "x" } library { function {
    signature { name: "f" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "r" type: DT_FLOAT } }
    node_def { name: "n" op: "f" input: "a" } ret { key: "r" value: "n:r:0" } } })");
  EXPECT_NE(said.find("nested more than"), std::string::npos) << said;
}

// Returns a call of the first of `count` functions. Each function calls the next one `calls` times.
std::string FunctionChain(int count, int calls) {
  std::string text = "node { name: \"y\" op: \"f0\" input: \"x\" } library { ";
  for (int i = 0; i < count; ++i) {
    const std::string next = i + 1 == count ? "Relu" : "f" + std::to_string(i + 1);
    text += "function { signature { name: \"f" + std::to_string(i) +
            "\" input_arg { name: \"a\" type: DT_FLOAT } output_arg { name: \"r\" type: DT_FLOAT } } ";
    std::string last = "a";
    for (int k = 0; k < calls; ++k) {
      const std::string name = "n" + std::to_string(k);
      text += "node_def { name: \"" + name + "\" op: \"" + next + "\" input: \"" + last + "\" } ";
      last = name + (i + 1 == count ? ":activations:0" : ":r:0");
    }
    text += "ret { key: \"r\" value: \"" + last + "\" } } ";
  }
  return text + "}";
}

TEST(TensorFlow, InlinesFunctions) {
  const auto graph = Read(FunctionChain(3, 2));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->NodeCount(), 8 + 1);
}

TEST(TensorFlow, FunctionsDoNotExplode) {
  const std::string said = MessageOf(FunctionChain(40, 2));
  EXPECT_NE(said.find("nodes once its functions are inlined"), std::string::npos) << said;
}

// Only the stack limits this depth.
TEST(TensorFlow, RefusesDeepCalls) {
  const std::string said = MessageOf(FunctionChain(20'000, 1));
  EXPECT_NE(said.find("nested more than 100 deep"), std::string::npos) << said;
}

TEST(TensorFlow, NamesTheVariablesThatAreMissing) {
  const std::string said =
      MessageOf(R"(node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "r" op: "ReadVariableOp" input: "v" } node { name: "y" op: "Add" input: "x" input: "r" })");
  EXPECT_NE(said.find("variable 'v' has no value"), std::string::npos) << said;
}

const std::string kPredicate =
    R"(node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } }
  attr { key: "shape" value { shape { } } } } )";

// Returns `count` Switches, each of which reads the one before it and has a predicate of its own.
std::string SwitchChain(int count) {
  std::string nodes;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    nodes +=
        "node { name: \"p" + n + "\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_BOOL } } } ";
    nodes += "node { name: \"s" + n + "\" op: \"Switch\" input: \"" +
             (i ? "s" + std::to_string(i - 1) : std::string("x")) + "\" input: \"p" + n + "\" } ";
  }
  const std::string last = "s" + std::to_string(count - 1);
  return nodes + "node { name: \"y\" op: \"Merge\" input: \"" + last + "\" input: \"" + last + ":1\" }";
}

TEST(TensorFlow, ReadsSwitchAndMerge) {
  const auto graph = Read(kPredicate +
                          R"(node { name: "s" op: "Switch" input: "x" input: "p" }
    node { name: "a" op: "Abs" input: "s" } node { name: "b" op: "Neg" input: "s:1" }
    node { name: "y" op: "Merge" input: "a" input: "b" })");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->outputs()[0]->type.ToString(), "f32[x_0,3]");
}

TEST(TensorFlow, BoundsChainsOfSwitches) {
  EXPECT_EQ(MessageOf(SwitchChain(100)).find("depends on more than"), std::string::npos);
  const std::string said = MessageOf(SwitchChain(300));
  EXPECT_NE(said.find("depends on more than 256 conditions"), std::string::npos) << said;
}

TEST(TensorFlow, RefusesOutputsThatASwitchDoesNotHave) {
  for (const std::string side : {"2", "7", "100000"}) {
    const std::string said = MessageOf(kPredicate + R"(node { name: "s" op: "Switch" input: "x" input: "p" }
    node { name: "y" op: "Merge" input: "s" input: "s:)" +
                                       side + "\" }");
    EXPECT_NE(said.find("the condition is not clear"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace tern
