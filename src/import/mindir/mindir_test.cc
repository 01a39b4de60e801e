#include <gtest/gtest.h>

#include "import/mindir/importer.h"
#include "import/mindir/operators.h"
#include "import/testing.h"
#include "ir/evaluate.h"

namespace tern::mindir {
namespace {

using A = pb::AttributeProto;

// Builds small models of version 3.
class Model {
 public:
  Model() {
    proto.set_ir_version("1.1");
    proto.set_producer_name("MindSpore");
    proto.set_mind_ir_version(3);
    proto.mutable_graph()->set_name("g");
  }

  pb::ModelProto proto;
  pb::GraphProto& graph() { return *proto.mutable_graph(); }

  static void SetType(pb::TensorProto* t, std::vector<int64_t> dims, int type = pb::TensorProto::FLOAT) {
    t->set_data_type(type);
    for (const int64_t d : dims) t->add_dims(d);
  }

  void Input(const std::string& name, std::vector<int64_t> dims) {
    auto* input = graph().add_input();
    input->set_name("g:" + name);
    SetType(input->add_tensor(), std::move(dims));
  }

  pb::NodeProto* Node(pb::GraphProto& g, const std::string& op, const std::vector<std::string>& inputs,
                      const std::string& output) {
    auto* node = g.add_node();
    node->set_op_type(op);
    node->set_name(output);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
    return node;
  }
  pb::NodeProto* Node(const std::string& op, const std::vector<std::string>& inputs,
                      const std::string& output) {
    return Node(graph(), op, inputs, output);
  }

  A* Constant(const std::string& name, A::AttributeType type) {
    auto* a = Node("Constant", {}, name)->add_attribute();
    a->set_name("value");
    a->set_type(type);
    return a;
  }

  void Parameter(const std::string& name, std::vector<int64_t> dims, const std::vector<float>& values) {
    auto* p = graph().add_parameter();
    p->set_name("g:" + name);
    SetType(p, std::move(dims));
    p->set_raw_data(values.data(), values.size() * sizeof(float));
  }

  void Output(const std::string& name) { graph().add_output()->set_name(name); }

  Result<std::unique_ptr<Graph>> Read() const { return load::ReadForTest(proto.SerializeAsString()); }
};

std::string ErrorOf(const Model& model) {
  const auto graph = model.Read();
  return graph.ok() ? "" : graph.status().ToString();
}

void ExpectError(const Model& model, std::string_view part) {
  EXPECT_NE(ErrorOf(model).find(part), std::string::npos) << ErrorOf(model);
}

// y = MatMul(x, Load(w)) with the attribute transpose_b.
Model MatMulModel() {
  Model m;
  m.Input("x", {-1, 2});
  m.Parameter("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  m.Constant("u", A::UMONAD);
  m.Node("REF::load", {"g:w", "u"}, "g:loaded");
  m.Node("REF::matmul", {"g:x", "g:loaded"}, "g:y");
  m.Output("g:y");
  auto* load = m.proto.add_primitives();
  load->set_name("load");
  load->set_op_type("Load");
  auto* matmul = m.proto.add_primitives();
  matmul->set_name("matmul");
  matmul->set_op_type("MatMul");
  auto* a = matmul->add_attribute();
  a->set_name("transpose_b");
  a->set_type(A::BOOL);
  a->set_i(1);
  return m;
}

TEST(Mindir, ReadsPrimitivesByReference) {
  const auto graph = MatMulModel().Read();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  ASSERT_EQ((*graph)->inputs().size(), 1u);
  EXPECT_EQ((*graph)->inputs()[0]->name, "x");
  EXPECT_EQ((*graph)->inputs()[0]->type.ToString(), "f32[x_0,2]");
  EXPECT_EQ((*graph)->outputs()[0]->name, "y");
  EXPECT_EQ((*graph)->outputs()[0]->type.ToString(), "f32[x_0,3]");
  EXPECT_EQ((*graph)->NodeCount(), 1);
}

// Version 0 stores attributes in nodes and describes their structure by text.
TEST(Mindir, ReadsAttributesOfVersion0) {
  Model m;
  m.proto.clear_mind_ir_version();
  m.Input("x", {1, 2, 4, 4});
  auto* node = m.Node("MaxPool", {"g:x"}, "g:y");
  const auto ints = [&](const char* name, std::vector<int64_t> values, const char* form) {
    auto* a = node->add_attribute();
    a->set_name(name);
    a->set_ref_attr_name(form);
    a->set_type(A::INT64);
    for (const int64_t v : values) a->add_ints(v);
  };
  ints("kernel_size", {1, 1, 2, 2}, "scalar:Tuple[value1,value2,value3,value4,]");
  ints("strides", {1, 1, 2, 2}, "scalar:Tuple[value1,value2,value3,value4,]");
  auto* mode = node->add_attribute();
  mode->set_name("pad_mode");
  mode->set_ref_attr_name("scalar:value0");
  mode->set_type(A::STRING);
  mode->set_s("VALID");
  m.Output("g:y");
  const auto graph = m.Read();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->outputs()[0]->type.ToString(), "f32[1,2,2,2]");
  node->mutable_attribute(0)->set_ref_attr_name("scalar:Tuple[value1,");
  ExpectError(m, "'kernel_size' must be integers");
}

// In the format NHWC, a convolution has its numbers as [1, h, w, 1], a pooling as [1, 1, h, w].
TEST(Mindir, ReadsTheFormatNhwc) {
  Model m;
  m.proto.clear_mind_ir_version();
  m.Input("x", {1, 8, 6, 1});
  m.Parameter("w", {2, 1, 1, 1}, {1, 2});
  auto* conv = m.Node("Conv2D", {"g:x", "g:w"}, "g:c");
  auto* pool = m.Node("MaxPool", {"g:c"}, "g:y");
  const auto add = [](pb::NodeProto* node, const char* name, std::vector<int64_t> values) {
    auto* a = node->add_attribute();
    a->set_name(name);
    a->set_type(A::TUPLE);
    for (const int64_t v : values) {
      auto* element = a->add_values();
      element->set_type(A::INT64);
      element->add_ints(v);
    }
  };
  for (auto* node : {conv, pool}) {
    auto* format = node->add_attribute();
    format->set_name("format");
    format->set_type(A::STRING);
    format->set_s("NHWC");
  }
  add(conv, "stride", {1, 2, 1, 1});
  add(pool, "kernel_size", {1, 1, 1, 3});
  add(pool, "strides", {1, 1, 1, 3});
  m.Output("g:y");
  const auto graph = m.Read();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->outputs()[0]->type.ToString(), "f32[1,4,2,2]");
}

// Like every other size, size 1 samples the middle of the image.
TEST(Mindir, UpsamplesToSize1) {
  Model m;
  m.Input("x", {1, 1, 1, 3});
  auto* size = m.Constant("g:size", A::TUPLE);
  for (int i = 0; i < 2; ++i) {
    auto* element = size->add_values();
    element->set_type(A::INT64);
    element->add_ints(1);
  }
  m.Node("UpsampleBilinear2D", {"g:x", "g:size"}, "g:y");
  m.Output("g:y");
  const auto graph = m.Read();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const auto y = EvaluateGraph(**graph, {Datum(Tensor::Of(DType::kF32, {1, 1, 1, 3}, {1, 2, 9}))});
  ASSERT_TRUE(y.ok()) << y.status().ToString();
  EXPECT_EQ((*y)[0].tensor.Describe(), "f32[1,1,1,1]");
  EXPECT_EQ(LoadDouble((*y)[0].tensor, 0), 2);
}

TEST(Mindir, TuplesBecomeOutputs) {
  Model m;
  m.Input("x", {2});
  m.Node("ReLU", {"g:x"}, "g:a");
  m.Node("MakeTuple", {"g:x", "g:a"}, "g:t");
  m.Output("g:t");
  const auto graph = m.Read();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  ASSERT_EQ((*graph)->outputs().size(), 2u);
  EXPECT_EQ((*graph)->outputs()[0]->name, "t.0");
  EXPECT_EQ((*graph)->outputs()[1]->name, "a");
}

// f(x) = Exp(x), g(x) = Switch(x, f, f)(x)
TEST(Mindir, SwitchBecomesIf) {
  Model m;
  m.Input("x", {});
  auto* f = m.proto.add_functions();
  f->set_name("f");
  f->add_input()->set_name("f:p");
  m.Node(*f, "Exp", {"f:p"}, "f:y");
  f->add_output()->set_name("f:y");
  m.Node("Switch", {"g:x", "f", "f"}, "g:s");
  m.Node("REF::g:s", {"g:x"}, "g:y");
  m.Output("g:y");
  const auto graph = m.Read();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->outputs()[0]->producer->op->name, "If");
  f->add_input()->set_name("f:q");
  ExpectError(m, "function 'f' is called without its input 'f:q'");
}

TEST(Mindir, RefusesRecursionThatIsNoLoop) {
  Model m;
  m.Input("x", {});
  auto* f = m.proto.add_functions();
  f->set_name("f");
  f->add_input()->set_name("f:p");
  m.Node(*f, "REF::f", {"f:p"}, "f:y");
  f->add_output()->set_name("f:y");
  m.Node("REF::f", {"g:x"}, "g:y");
  m.Output("g:y");
  ExpectError(m, "function calls nest deeper than 100");
}

TEST(Mindir, FunctionsDoNotExplode) {
  Model m;
  m.Input("x", {});
  for (int i = 0; i < 40; ++i) {
    auto* f = m.proto.add_functions();
    const std::string name = StrCat("f", i), next = i == 39 ? "Exp" : StrCat("REF::f", i + 1);
    f->set_name(name);
    f->add_input()->set_name(name + ":p");
    m.Node(*f, next, {name + ":p"}, name + ":a");
    m.Node(*f, next, {name + ":a"}, name + ":b");
    f->add_output()->set_name(name + ":b");
  }
  m.Node("REF::f0", {"g:x"}, "g:y");
  m.Output("g:y");
  ExpectError(m, "more than 1000000 nodes");
}

// Each of the 60 functions h names all of them. The search for loops must not repeat for each of 2^16 calls
// of f15.
TEST(Mindir, SearchesForLoopsOnce) {
  Model m;
  m.Input("x", {});
  constexpr int kDepth = 16, kWidth = 60;
  for (int i = 0; i < kDepth; ++i) {
    auto* f = m.proto.add_functions();
    const std::string name = StrCat("f", i), next = i + 1 == kDepth ? "Exp" : StrCat("REF::f", i + 1);
    f->set_name(name);
    f->add_input()->set_name(name + ":p");
    m.Node(*f, next, {name + ":p"}, name + ":a");
    m.Node(*f, next, {name + ":a"}, name + ":b");
    if (i + 1 == kDepth) {
      auto* tuple = m.Node(*f, "MakeTuple", {}, name + ":t");
      for (int k = 0; k < kWidth; ++k) tuple->add_input(StrCat("h", k));
    }
    f->add_output()->set_name(name + ":b");
  }
  for (int i = 0; i < kWidth; ++i) {
    auto* h = m.proto.add_functions();
    h->set_name(StrCat("h", i));
    for (int k = 0; k < kWidth; ++k) h->add_output()->set_name(StrCat("h", k));
  }
  m.Node("REF::f0", {"g:x"}, "g:y");
  m.Output("g:y");
  const auto graph = m.Read();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ((*graph)->NodeCount(), 1 << kDepth);
}

TEST(Mindir, ListsAllUnsupportedPrimitives) {
  Model m;
  m.Input("x", {2});
  m.Node("Custom", {"g:x"}, "g:a");
  m.Node("AllReduce", {"g:a"}, "g:b");
  m.Node("Custom", {"g:b"}, "g:c");
  m.Output("g:c");
  ExpectError(m,
              "2 operator(s) that Tern does not support:\n  AllReduce x1 at 'b'\n  Custom x2 at 'a', 'c'\n  "
              "docs/howto/custom_ops.md shows how to define or add an operator");
}

TEST(Mindir, ChecksSizes) {
  Model m = MatMulModel();
  m.graph().mutable_parameter(0)->set_raw_data("1234");
  ExpectError(m, "tensor 'g:w' f32[3,2] needs 24 bytes, but has 4");
  m = MatMulModel();
  m.graph().mutable_parameter(0)->set_dims(0, INT64_MAX);
  ExpectError(m, "has a wrong shape");
  m = MatMulModel();
  m.graph().mutable_parameter(0)->set_data_type(99);
  ExpectError(m, "data type 99 is unknown");
  m = MatMulModel();
  m.graph().mutable_parameter(0)->mutable_external_data()->set_location("data_0");
  ExpectError(m, "a model in memory cannot have external data");
  m = MatMulModel();
  m.graph().mutable_node(2)->set_input(0, "g:nothing");
  ExpectError(m, "'g:nothing' does not exist");
  m = MatMulModel();
  m.graph().clear_output();
  ExpectError(m, "graph 'g' has no output");
}

TEST(Mindir, ChecksTheHeader) {
  Model m = MatMulModel();
  m.proto.set_mind_ir_version(4);
  ExpectError(m, "mind_ir_version 4 is newer than 3");
  m.proto.set_mind_ir_version(1);
  m.proto.set_little_endian(false);
  ExpectError(m, "big-endian");
  const auto cut = load::ReadForTest(MatMulModel().proto.SerializeAsString().substr(0, 50));
  EXPECT_NE(cut.status().message().find("broken or cut short"), std::string::npos) << cut.status().message();
  const auto encrypted = load::ReadForTest(std::string_view("\xd9\x5e\x3a\x7f\0\0", 6));
  EXPECT_NE(encrypted.status().message().find("encrypted (AES-CBC)"), std::string::npos);
}

TEST(Mindir, OperatorsAreSortedAndUnique) {
  const auto operators = Operators();
  size_t imported = 0;
  for (size_t i = 0; i < operators.size(); ++i) {
    imported += operators[i].imported;
    if (i) {
      EXPECT_LT(operators[i - 1].name, operators[i].name);
    }
  }
  EXPECT_GE(imported, 120u);
}

}  // namespace
}  // namespace tern::mindir
