// Tests how the importer uses what a model declares: names of dims, value_info, types of attributes, and
// initializers.
#include <gtest/gtest.h>

#include <set>

#include "export/onnx/exporter.h"
#include "import/onnx/graph_importer.h"
#include "ir/text.h"
#include "onnx_model.h"
#include "ops/ops.h"

namespace tern {
namespace {

// Sets the dims of a value. "5" is a number, "" an unknown dim, and any other text a dim_param.
void SetDims(pb::ValueInfoProto* info, const Names& dims) {
  auto* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->clear_dim();
  for (const std::string& d : dims) {
    int64_t number = 0;
    if (ParseInt(d, number))
      shape->add_dim()->set_dim_value(number);
    else
      shape->add_dim()->set_dim_param(d);
  }
}

struct Declared : Model {
  using Model::Model;
  void Input(const char* name, const Names& dims) {
    auto* graph = proto.mutable_graph();
    Describe(graph->add_input(), name);
    SetDims(graph->mutable_input(graph->input_size() - 1), dims);
  }
  void ValueInfo(const char* name, const Names& dims) {
    auto* info = proto.mutable_graph()->add_value_info();
    Describe(info, name);
    SetDims(info, dims);
  }
  // Imports the model and returns the number of attempts. If a first attempt finds contradictory dims, the
  // importer drops the declared dims and tries again. `error` is the message, or empty if the import
  // succeeds.
  int Attempts(std::string& error) const {
    int attempts = 0;
    auto graph = onnx::ImportModel(std::make_shared<pb::ModelProto>(proto), "", &attempts);
    error = graph.ok() ? "" : graph.status().message();
    return attempts;
  }
};

TEST(Declared, NamesThatContradictEachOtherAreDropped) {
  // If the two dims H were equal, the convolution would have 1 row, but the Concat requires 4 rows.
  Declared model;
  model.Input("i", {"1", "1", "H", "4"});
  model.Input("k", {"1", "1", "H", "1"});
  model.Input("four", {"1", "1", "4", "1"});
  model.Add("Conv", {"i", "k"}, {"c"});
  AddAttr(model.Add("Concat", {"c", "four"}, {"y"}), "axis", pb::AttributeProto::INT)->set_i(3);
  model.proto.mutable_graph()->mutable_output(0)->clear_type();
  std::string error;
  EXPECT_EQ(model.Attempts(error), 2);
  EXPECT_EQ(error, "");
}

TEST(Declared, ValueInfoThatContradictsIsDropped) {
  Declared model;
  AddAttr(model.Add("Compress", {"x", "keep"}, {"kept"}), "axis", pb::AttributeProto::INT)->set_i(0);
  Describe(model.proto.mutable_graph()->add_input(), "keep", DType::kBool);
  model.ValueInfo("kept", {"7"});
  model.Weight("w", {2}, {1, 2});
  model.Add("Add", {"kept", "w"}, {"y"});
  std::string error;
  EXPECT_EQ(model.Attempts(error), 2);
  EXPECT_EQ(error, "");
}

TEST(Declared, OtherErrorsAreFoundOnce) {
  Declared attribute;
  attribute.Input("a", {"N", "4"});
  AddAttr(attribute.Add("Softmax", {"a"}, {"y"}), "axis", pb::AttributeProto::STRING)->set_s("1");
  Declared type;
  type.Input("a", {"N", "4"});
  type.proto.mutable_graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->set_elem_type(8);
  type.Add("Relu", {"a"}, {"y"});
  Declared unmade;
  unmade.Input("a", {"N", "4"});
  unmade.Add("Add", {"a", "nowhere"}, {"y"});
  Declared rank;
  rank.Input("a", {"N"});
  rank.Add("Conv", {"a", "a"}, {"y"});
  Declared plain;  // x and w do not broadcast; neither has a declaration that could be dropped
  plain.Weight("w", {3}, {1, 2, 3});
  plain.Add("Add", {"x", "w"}, {"y"});
  for (const Declared* model : {&attribute, &type, &unmade, &rank, &plain}) {
    std::string error;
    EXPECT_EQ(model->Attempts(error), 1) << error;
    EXPECT_NE(error, "");
  }
}

TEST(Declared, TheFirstErrorOfAContradictionStands) {
  Declared model;
  model.Input("a", {"N", "3"});
  model.Weight("w", {2}, {1, 2});
  model.Add("Add", {"a", "w"}, {"y"})->set_name("sum");
  std::string error;
  EXPECT_EQ(model.Attempts(error), 2);
  EXPECT_NE(error.find("f32[N,3]"), std::string::npos) << error;
}

// Returns the dims of the first added input as text, or the message of a failed import.
std::string DimsOf(const Declared& model) {
  auto graph = model.Import();
  return graph.ok() ? (*graph)->inputs()[1]->type.shape.ToString() : graph.status().message();
}

TEST(Declared, TextsAreExpressionsOfInputDimsOrNames) {
  Declared names;
  names.Input("a", {"batch-size", "a b", "a/b", "a_b", "2x", "batch", "1+1"});
  names.Add("Relu", {"a"}, {"y"});
  EXPECT_EQ(DimsOf(names), R"(["batch-size","a b","a/b",a_b,"2x",batch,"1+1"])");
  Declared sums;
  sums.Input("a",
             {"batch + 1", "2*s0", "s0//2", "(s0 - 1)//2 + 1", "Max(1, s0)", "s0 % 4", "s0*batch", "s1+1"});
  sums.Input("b", {"batch", "s0"});
  sums.Add("Relu", {"a"}, {"y"});
  EXPECT_EQ(DimsOf(sums),
            "[batch+1,2*s0,floordiv(s0,2),floordiv(s0-1,2)+1,max(1,s0),mod(s0,4),batch*s0,\"s1+1\"]");
  Declared unknown;
  unknown.Input("a", {"?", ""});
  unknown.Add("Relu", {"a"}, {"y"});
  EXPECT_EQ(DimsOf(unknown), "[?,?]");
}

TEST(Declared, NamesOfDimsSurviveTextAndExport) {
  const Names dims = {"batch-size", "a b", "a/b", "[x],\"(y", "back\\slash\n", "\"batch-size\"+1", "höhe"};
  Declared model;
  model.Input("a", dims);
  model.Add("Relu", {"a"}, {"y"});
  model.proto.mutable_graph()->mutable_output(0)->clear_type();
  auto graph = model.Import();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  auto again = ParseGraph(PrintGraphExactly(**graph));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_TRUE(SameGraph(**graph, **again));
  auto bytes = onnx::ExportBytes(**again);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  pb::ModelProto out;
  ASSERT_TRUE(out.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())));
  for (const auto* list : {&out.graph().input(), &out.graph().output()})
    for (const auto& info : *list) {
      if (info.name() == "x") continue;
      Names got;
      for (const auto& d : info.type().tensor_type().shape().dim()) got.push_back(d.dim_param());
      EXPECT_EQ(got, dims) << info.name();
    }
}

// ONNX needs a tensor of zeros in place of an absent zero point. The export must not add this tensor if it
// cannot export the operator.
TEST(Declared, ExportWritesNoUnusedInitializers) {
  InitOps();
  auto graph = ParseGraph(R"(graph @g(%a: u8[2,3], %b: u8[3,4], %s: f32[S]) -> (%y) {
    #half: f32[] = (0.5)
    %y = QMatMul(%a, #half, _, %b, %s, _, #half)
  })");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  auto bytes = onnx::ExportBytes(**graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  pb::ModelProto out;
  ASSERT_TRUE(out.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())));
  std::set<std::string> read;
  for (const auto& node : out.graph().node()) read.insert(node.input().begin(), node.input().end());
  for (const auto& w : out.graph().initializer()) EXPECT_EQ(read.count(w.name()), 1u) << w.name();
}

TEST(Declared, OldCastsGiveTheirTypeAsTextOrNumber) {
  for (int opset : {1, 5, 6}) {
    Model text(opset), number(opset);
    AddAttr(text.Add("Cast", {"x"}, {"y"}), "to", pb::AttributeProto::STRING)->set_s("INT32");
    AddAttr(number.Add("Cast", {"x"}, {"y"}), "to", pb::AttributeProto::INT)->set_i(6);
    for (Model* model : {&text, &number}) {
      model->proto.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
          6);
      auto graph = model->Import();
      if (opset == 6 && model == &text) {
        EXPECT_FALSE(graph.ok());
        continue;
      }
      ASSERT_TRUE(graph.ok()) << graph.status().ToString();
      EXPECT_EQ((*graph)->outputs()[0]->type.ToString(), "i32[2]");
    }
  }
}

TEST(Declared, NumbersOfTheOtherKindAreReadWhereExact) {
  // Some of these attributes are read by a converter with Float or Int. The others are copied by Direct().
  Model whole;
  AddAttr(whole.Add("Elu", {"x"}, {"e"}), "alpha", pb::AttributeProto::INT)->set_i(2);
  AddAttr(whole.Add("LeakyRelu", {"e"}, {"l"}), "alpha", pb::AttributeProto::INT)->set_i(3);
  AddAttr(whole.Add("Softmax", {"l"}, {"s"}), "axis", pb::AttributeProto::FLOAT)->set_f(-1);
  AddAttr(whole.Add("Flatten", {"s"}, {"f"}), "axis", pb::AttributeProto::FLOAT)->set_f(0);
  auto* perm = AddAttr(whole.Add("Transpose", {"f"}, {"y"}), "perm", pb::AttributeProto::FLOATS);
  perm->add_floats(1);
  perm->add_floats(0);
  EXPECT_EQ(whole.Error(), "no error");
  auto graph = whole.Import();
  ASSERT_TRUE(graph.ok());
  EXPECT_NE(PrintGraphExactly(**graph).find("alpha=2"), std::string::npos) << PrintGraphExactly(**graph);
  EXPECT_NE(PrintGraphExactly(**graph).find("alpha=3"), std::string::npos);
  for (const char* op : {"Softmax", "Flatten"}) {
    Model half;
    AddAttr(half.Add(op, {"x"}, {"y"}), "axis", pb::AttributeProto::FLOAT)->set_f(0.5);
    EXPECT_ERROR(half, "invalid model", "axis");
  }
  Model big;
  AddAttr(big.Add("Elu", {"x"}, {"y"}), "alpha", pb::AttributeProto::INT)->set_i((1 << 24) + 1);
  EXPECT_ERROR(big, "invalid model", "alpha");
}

TEST(Declared, InitializersOfOneNameMustBeTheSame) {
  Model same, bytes, dims;
  for (Model* model : {&same, &bytes, &dims}) {
    model->Weight("other", {1}, {0});
    model->Weight("w", {2}, {1, 2});
    model->Add("Add", {"x", "w"}, {"y"});
  }
  same.Weight("w", {2}, {1, 2});
  EXPECT_EQ(same.Error(), "no error");
  bytes.Weight("w", {2}, {1, 3});
  EXPECT_ERROR(bytes, "invalid model", "initializer #1 and initializer #2 are both named 'w'");
  dims.Weight("w", {1, 2}, {1, 2});
  EXPECT_ERROR(dims, "invalid model", "f32[2] and f32[1,2]");
}

TEST(Declared, LongChainsOfFunctionsEnd) {
  Model model;
  const int count = 60000;
  for (int i = 0; i < count; ++i)
    AddNode(model.Function(StrCat("F", i).c_str(), {"a"})->mutable_node(), StrCat("F", i + 1).c_str(), {"a"},
            {"b"})
        ->set_domain("local");
  AddNode(model.Function(StrCat("F", count).c_str(), {"a"})->mutable_node(), "Neg", {"a"}, {"b"});
  model.Add("F0", {"x"}, {"y"})->set_domain("local");
  EXPECT_ERROR(model, "invalid model", "nest deeper");
}

}  // namespace
}  // namespace tern
