#include <gtest/gtest.h>

#include "import/testing.h"
#include "import/torch/testing.h"

namespace tern::torch {
namespace {

using namespace std::string_literals;

// Reads a module without attributes whose forward has the given statements.
Result<std::unique_ptr<Graph>> Read(const std::string& statements, const std::string& state = "}",
                                    const std::string& fields = "", const std::string& functions = "") {
  const std::string code = functions +
                           "class P(NamedTuple):\n  a : __torch__.P\n  b : __torch__.P\n"
                           "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n" +
                           fields + "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n" +
                           statements + "    return y\n";
  return load::ReadForTest(ZipOf({{"version", "3\n"},
                                  {"data.pkl", "\x80\x02"s + "c__torch__\nM\n)\x81" + state + "b."},
                                  {"code/__torch__.py", code}}));
}

// A list of two times the same list, and so on: 40 statements make 2^40 ways to the innermost item.
std::string SharedLists(int levels) {
  std::string text = "    a0 = [1, 2]\n";
  for (int i = 1; i <= levels; ++i) {
    const std::string inner = "a" + std::to_string(i - 1);
    text += "    a" + std::to_string(i) + " = [" + inner + ", " + inner + "]\n";
  }
  return text;
}

TEST(Script, ReadsForward) {
  const auto graph = Read("    y = torch.relu(x)\n");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->outputs().size(), 1u);
}

// Returns functions, each of which calls the next one. The last one calls an operator.
std::string FunctionChain(int count, const std::string& op) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "def f" + std::to_string(i) + "(x: Tensor) -> Tensor:\n  return " +
            (i + 1 == count ? op : "__torch__.f" + std::to_string(i + 1)) + "(x)\n";
  return text;
}

// The list also covers functions that are not called before the error.
TEST(Script, ListsUnsupportedOperatorsOfLongChains) {
  const auto graph = Read("    z = ops.custom.zebra(1)\n    y = __torch__.f0(x)\n", "}", "",
                          FunctionChain(20'000, "ops.custom.yak"));
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("custom::yak x1"), std::string::npos) << graph.status().message();
}

TEST(Script, BoundsArgumentsOfSharedLists) {
  const auto graph = Read(SharedLists(40) + "    y = torch.reshape(x, a40)\n");
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("an argument contains more than 2097152 values"), std::string::npos)
      << graph.status().message();
}

TEST(Script, BoundsVariablesOfSharedLists) {
  const auto graph =
      Read(SharedLists(40) +
           "    if bool(torch.gt(torch.sum(x), 0)):\n      a40 = [a39]\n      y = torch.neg(x)\n"
           "    else:\n      y = x\n    z = torch.len(a40)\n");
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("a value contains more than 1048576 values"), std::string::npos)
      << graph.status().message();
}

// Each tuple contains the same tuple twice, so that there are 2^60 ways to the innermost one.
TEST(Script, AppliesTypesToSharedTuplesOnce) {
  std::string state = "}X\x01\x00\x00\x00tK\x01"s;
  for (int i = 0; i < 60; ++i) state += "q"s + static_cast<char>(i) + "h" + static_cast<char>(i) + "\x86";
  const auto graph = Read("    y = torch.relu(x)\n", state + "s", "  t : __torch__.P\n");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
}

// Branches of different rank give a tensor of unknown rank.
TEST(Script, SurvivesTensorsOfUnknownRank) {
  for (const std::string call :
       {"torch.transpose(z, 0, 1)", "torch.transpose(z, -1, -2)", "torch.rot90(z, 1, [0, 1])", "torch.t(z)",
        "torch.repeat_interleave(z, 2, 0)", "torch.flip(z, [0])", "torch.flatten(z, 0, -1)",
        "torch.movedim(z, 0, 1)", "torch.index_fill(z, 0, torch.tensor([0]), 1)", "torch.mean(z, [0])",
        "torch.tensordot(z, z, [0], [0])", "torch.diagonal(z)", "torch.unbind(z)[0]",
        "torch.adaptive_avg_pool2d(z, [3, 3])", "torch.scaled_dot_product_attention(z, z, z)",
        "torch.kron(z, z)", "torch.cummax(z, 0)[0]", "torch.var(z, [0])", "torch.squeeze(z, 0)"}) {
    const auto graph = Read(
        "    if bool(torch.gt(torch.sum(x), 0)):\n      z = torch.unsqueeze(x, 0)\n    else:\n      z = x\n"
        "    y = " +
        call + "\n");
    if (!graph.ok()) {
      EXPECT_NE(graph.status().code(), Code::kInternal) << call << ": " << graph.status().ToString();
    }
  }
}

}  // namespace
}  // namespace tern::torch
