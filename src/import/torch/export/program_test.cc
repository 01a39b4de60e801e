#include <gtest/gtest.h>

#include "import/testing.h"
#include "import/torch/testing.h"
#include "ir/exact_symbols.h"

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
  EXPECT_TRUE(HasExactSymbols(**graph));
}

TEST(Program, AnInputMayBeAnOutput) {
  const auto graph = Read(ProgramOf("", "x"));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->NodeCount(), 1);
}

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

constexpr const char* kLeaf = R"({"type":null,"context":null,"children_spec":[]})";

// A node of an out_spec. `context` is a string of the file.
std::string TreeOf(const std::string& type, const std::string& context,
                   const std::vector<std::string>& children) {
  std::string out = "{\"type\":\"" + type + "\",\"context\":\"" + Escaped(context) + "\",\"children_spec\":[";
  for (size_t i = 0; i < children.size(); ++i) out += (i ? "," : "") + children[i];
  return out + "]}";
}

// Returns the names of the outputs of a program with the inputs x and c. It returns x, a = relu(x) and
// b = relu(a), as a tree.
std::string NamesFor(const std::string& tree, const std::string& more = "") {
  std::string program = ProgramOf(NodeOf("torch.ops.aten.relu.default", {{"self", "x"}}, "a") + "," +
                                  NodeOf("torch.ops.aten.relu.default", {{"self", "a"}}, "b"));
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = program.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    program.replace(at, from.size(), to);
  };
  const auto tensor = [](const std::string& name) { return "{\"as_tensor\":{\"name\":\"" + name + "\"}}"; };
  const auto result = [&](const std::string& name) {
    return "{\"user_output\":{\"arg\":" + tensor(name) + "}}";
  };
  replace("\"outputs\":[" + tensor("y") + "]",
          "\"outputs\":[" + tensor("x") + "," + tensor("a") + "," + tensor("b") + "]");
  replace("\"output_specs\":[" + result("y") + "]",
          "\"output_specs\":[" + result("x") + "," + result("a") + "," + result("b") + "]");
  replace("\"inputs\":[" + tensor("x") + "]", "\"inputs\":[" + tensor("x") + "," + tensor("c") + "]");
  replace("\"input_specs\":[", "\"input_specs\":[{\"user_input\":{\"arg\":" + tensor("c") + "}},");
  replace("\"tensor_values\":{", "\"tensor_values\":{\"c\":" + MetaOf("") + ",");
  replace("\"graph_module\":{",
          "\"graph_module\":{\"module_call_graph\":[{\"fqn\":\"\",\"signature\":{\"out_spec\":\"" +
              Escaped(tree) + "\"}}]," + more);
  const auto graph = Read(program);
  if (!graph.ok()) return graph.status().ToString();
  std::vector<std::string> names;
  for (const Value* v : (*graph)->outputs()) names.push_back(v->name);
  return Join(names, " ");
}

std::string SpecOf(const std::string& tree) { return "[1, " + tree + "]"; }

TEST(Program, NamesOutputsAfterTheirKeys) {
  const auto dict = [](const std::string& keys, const std::vector<std::string>& children) {
    return TreeOf("builtins.dict", keys, children);
  };
  const std::string leaf = kLeaf, pair = TreeOf("builtins.list", "null", {leaf, leaf});
  EXPECT_EQ(NamesFor(SpecOf(dict(R"(["first", "b", "d.e"])", {leaf, leaf, leaf}))), "first b d.e");
  EXPECT_EQ(NamesFor(SpecOf(dict(R"(["p", 7])", {pair, leaf}))), "p_0 p_1 7");
  EXPECT_EQ(NamesFor(SpecOf(dict(R"(["p", "q"])", {dict(R"(["r"])", {leaf}), pair}))), "p_r q_0 q_1");
  // Outputs without a key, and indices in front of a key.
  EXPECT_EQ(NamesFor(SpecOf(TreeOf("builtins.tuple", "null", {leaf, leaf, leaf}))), "x a b");
  EXPECT_EQ(NamesFor(SpecOf(TreeOf("builtins.tuple", "null", {leaf, dict(R"(["k", "l"])", {leaf, leaf})}))),
            "x k l");
  // Names of inputs and repeated names get a suffix.
  EXPECT_EQ(NamesFor(SpecOf(dict(R"(["c", "x", "c_1"])", {leaf, leaf, leaf}))), "c_1 x_1 c_1_1");
}

TEST(Program, NamesOutputsAfterTheFieldsOfClasses) {
  const std::string leaf = kLeaf;
  const std::vector<std::string> leaves = {leaf, leaf, leaf};
  EXPECT_EQ(NamesFor(SpecOf(TreeOf("m.Output", R"(["p", "q", "r"])", leaves))), "p q r");
  EXPECT_EQ(NamesFor(SpecOf(TreeOf("m.Data", R"([["p", "q", "r"], ["none"]])", leaves))), "p q r");
  EXPECT_EQ(NamesFor(SpecOf(TreeOf("collections.namedtuple", "m.Tuple", leaves)),
                     R"("treespec_namedtuple_fields":{"m.Tuple":{"field_names":["p","q","r"]}},)"),
            "p q r");
  const std::string defaults =
      R"({"type":"collections.defaultdict","context":{"default_factory_module":"builtins","default_factory_name":"list","dict_context":["p","q","r"]},"children_spec":[)" +
      leaf + "," + leaf + "," + leaf + "]}";
  EXPECT_EQ(NamesFor(SpecOf(defaults)), "p q r");
}

TEST(Program, IgnoresTreesThatItCannotRead) {
  const std::string leaf = kLeaf;
  const std::vector<std::string> leaves = {leaf, leaf, leaf};
  std::string deep = leaf;
  for (int i = 0; i < 200; ++i) deep = TreeOf("builtins.dict", R"(["k"])", {deep});
  for (const std::string& spec :
       {std::string(), std::string("{"), std::string("[1]"), std::string("[1, 2]"), std::string("null"),
        SpecOf(leaf), SpecOf(TreeOf("builtins.dict", R"(["p", "q"])", {leaf, leaf})),
        SpecOf(TreeOf("builtins.dict", R"(["p", "q"])", leaves)),
        SpecOf(TreeOf("builtins.dict", R"(["p", null, "q"])", leaves)),
        SpecOf(TreeOf("builtins.dict", R"([["p", "q", "r"], []])", leaves)),
        SpecOf(TreeOf("m.Unknown", "something", leaves)), SpecOf(R"({"type":"builtins.dict"})"),
        SpecOf(TreeOf("builtins.list", "null", {deep, leaf, leaf})),
        SpecOf(TreeOf("builtins.dict", "[\"" + std::string(2000, 'k') + "\", \"p\", \"q\"]", leaves))})
    EXPECT_EQ(NamesFor(spec), "x a b") << spec.substr(0, 200);
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

// A node whose arguments are extreme must be refused, or imported with another meaning, but never be a bug of
// Tern. The sanitizers find what these arguments overflow.
TEST(Program, SurvivesExtremeArguments) {
  const std::string most = "9223372036854775807", least = "-9223372036854775808";
  const auto arg = [](const std::string& name, const std::string& kind, const std::string& value) {
    return ",{\"name\":\"" + name + "\",\"arg\":{\"" + kind + "\":" + value + "}}";
  };
  const auto ints = [&](const std::string& name, const std::string& values) {
    return arg(name, "as_ints", "[" + values + "]");
  };
  const auto one = [&](const std::string& name, const std::string& v) { return arg(name, "as_int", v); };
  const std::vector<std::pair<std::string, std::string>> nodes = {
      {"split.Tensor", one("split_size", "2") + one("dim", most)},
      {"split.Tensor", one("split_size", most) + one("dim", least)},
      {"chunk.default", one("chunks", most)},
      {"unbind.int", one("dim", most)},
      {"im2col.default",
       ints("kernel_size", most) + ints("dilation", most) + ints("padding", "0") + ints("stride", "1")},
      {"im2col.default", ints("kernel_size", "2,2") + ints("dilation", most + ",1") + ints("padding", "0,0") +
                             ints("stride", "0,1")},
      {"avg_pool2d.default", ints("kernel_size", most) + one("divisor_override", "1")},
      {"zeros_like.default", arg("dtype", "as_scalar_type", "10")},
      {"full_like.default", one("fill_value", "1") + arg("dtype", "as_scalar_type", "10")},
      {"var.correction", ints("dim", most + "," + least)},
      {"select_scatter.default",
       ",{\"name\":\"src\",\"arg\":{\"as_tensor\":{\"name\":\"x\"}}}" + one("dim", "0") + one("index", most)},
      {"max_unpool2d.default", ",{\"name\":\"indices\",\"arg\":{\"as_tensor\":{\"name\":\"x\"}}}" +
                                   ints("output_size", most + "," + most)},
      {"fft_irfft.default", one("n", least)},
      {"rot90.default", one("k", least) + ints("dims", most + "," + least)},
      {"movedim.int", one("source", most) + one("destination", least)},
      {"repeat_interleave.self_int", one("repeats", most) + one("dim", most)},
      {"cummax.default", one("dim", most)},
      {"narrow.default", one("dim", least) + one("start", most) + one("length", most)},
      {"diagonal.default", one("offset", least)},
      {"roll.default", ints("shifts", least) + ints("dims", least)},
      {"unfold.default", one("dimension", "0") + one("size", most) + one("step", most)},
  };
  for (const std::string sizes :
       {"{\"as_int\":4},{\"as_int\":2},{\"as_int\":6},{\"as_int\":6}", "{\"as_int\":5}", ""})
    for (const auto& [op, more] : nodes) {
      const std::string node = NodeOf("torch.ops.aten." + op, {{"self", "x"}}, "y", more);
      const std::string error = ErrorOf(ProgramOf(node, "y", sizes));
      EXPECT_EQ(error.find("internal"), std::string::npos) << op << ": " << error;
    }
}

TEST(Program, RefusesOverloadsOfNumbers) {
  for (const std::string op : {"ceil.int", "floor.Scalar", "neg.float", "round.int", "relu.int"}) {
    const std::string node =
        "{\"target\":\"torch.ops.aten." + op +
        "\",\"inputs\":[{\"name\":\"a\",\"arg\":{\"as_int\":1}}],\"outputs\":[{\"as_tensor\":{\"name\":\"y\"}}],"
        "\"metadata\":{}}";
    EXPECT_NE(ErrorOf(ProgramOf(node)).find("aten::" + op.substr(0, op.find('.'))), std::string::npos)
        << ErrorOf(ProgramOf(node));
  }
}

// The product along the first axis fails, because its operands are bools. The second one has an operand of
// unknown type.
TEST(Program, ReportsTheFirstErrorOfAPooling) {
  const std::string node = NodeOf("torch.ops.aten.adaptive_avg_pool2d.default", {{"self", "x"}}, "y",
                                  ",{\"name\":\"output_size\",\"arg\":{\"as_ints\":[3,3]}}");
  std::string program = ProgramOf(node, "y", "{\"as_int\":1},{\"as_int\":1},{\"as_int\":5},{\"as_int\":5}");
  const size_t dtype = program.find("\"dtype\":7");
  ASSERT_NE(dtype, std::string::npos);
  program.replace(dtype, 9, "\"dtype\":12");
  const auto graph = Read(program);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), Code::kInvalidModel) << graph.status().ToString();
  EXPECT_NE(graph.status().message().find("MatMul"), std::string::npos) << graph.status().message();
}

std::string GraphArgument(const std::string& graph) {
  return "{\"name\":\"\",\"arg\":{\"as_graph\":{\"name\":\"g\",\"graph\":" + graph + "}}}";
}

// The condition of each loop contains the next loop. The import reads a condition before the loop and in the
// loop.
TEST(Program, NestedConditionsDoNotExplode) {
  const std::string arg = "{\"as_tensor\":{\"name\":\"x\"}}";
  const auto graph = [&](const std::string& nodes, const std::string& output) {
    return "{\"inputs\":[" + arg + "],\"outputs\":[{\"as_tensor\":{\"name\":\"" + output +
           "\"}}],\"nodes\":[" + nodes + "]}";
  };
  const std::string body = graph("", "x");
  const std::string any = NodeOf("torch.ops.aten.any.default", {{"self", "x"}}, "c");
  std::string nodes = any;
  for (int i = 0; i < 20; ++i)
    nodes =
        "{\"target\":\"torch.ops.higher_order.while_loop\",\"inputs\":[" + GraphArgument(graph(nodes, "c")) +
        "," + GraphArgument(body) +
        ",{\"name\":\"\",\"arg\":{\"as_tensors\":[{\"name\":\"x\"}]}}],\"outputs\":[{\"as_tensor\":{\"name\":"
        "\"y\"}}],\"metadata\":{}}," +
        any;
  const std::string error = ErrorOf(ProgramOf(nodes, "c"));
  EXPECT_NE(error.find("nodes once its nested graphs are inlined"), std::string::npos) << error;
}

TEST(Program, RefusesBuffersWhoseShapeChanges) {
  std::string program = ProgramOf(NodeOf("torch.ops.aten.relu.default", {{"self", "x"}}, "y"), "y");
  const auto insert = [&](const std::string& before, const std::string& text) {
    const size_t at = program.find(before);
    ASSERT_NE(at, std::string::npos);
    program.insert(at + before.size(), text);
  };
  const std::string y = "{\"as_tensor\":{\"name\":\"y\"}}";
  insert("\"outputs\":[", y + ",");
  insert("\"input_specs\":[", "{\"buffer\":{\"arg\":{\"name\":\"b\"},\"buffer_name\":\"sums\"}},");
  insert("\"output_specs\":[", "{\"buffer_mutation\":{\"arg\":{\"name\":\"y\"},\"buffer_name\":\"sums\"}},");
  const auto read = [&](const std::string& sizes, const std::string& strides) {
    const std::string meta = "{\"dtype\":7,\"sizes\":[" + sizes + "],\"strides\":[" + strides +
                             "],\"storage_offset\":{\"as_int\":0},\"layout\":7}";
    const std::string config =
        "{\"config\":{\"sums\":{\"path_name\":\"weight_0\",\"use_pickle\":false,\"tensor_meta\":" + meta +
        "}}}";
    return load::ReadForTest(ZipOf({{"archive_format", "pt2"},
                                    {"models/model.json", program},
                                    {"data/weights/weight_0", std::string(24, '\0')},
                                    {"data/weights/model_weights_config.json", config}}));
  };
  const std::string two = "{\"as_int\":2}", three = "{\"as_int\":3}", one = "{\"as_int\":1}";
  const auto graph = read(two + "," + three, three + "," + one);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->states().size(), 1u);
  const auto other = read(three, one);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.status().message().find("the program writes f32[2,3] to the buffer 'sums' f32[3]"),
            std::string::npos)
      << other.status().message();
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
