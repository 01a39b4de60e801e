// Tests the importer on invalid, unusual and hostile models.
#include <gtest/gtest.h>

#include "onnx_model.h"

namespace tern {
namespace {

TEST(Import, NamesAnAttributeOfTheWrongKind) {
  Model model;
  AddAttr(model.Add("Softmax", {"x"}, {"y"}), "axis", pb::AttributeProto::FLOAT)->set_f(0.5);
  EXPECT_ERROR(model, "invalid model",
               "node 'y' (Softmax): attribute 'axis' is a float, but must be an integer");
  Model direct;
  AddAttr(direct.Add("Flatten", {"x"}, {"y"}), "axis", pb::AttributeProto::STRING)->set_s("1");
  EXPECT_ERROR(direct, "invalid model", "attribute 'axis'");
}

TEST(Import, RefusesOutputsTheOperatorDoesNotGive) {
  for (const char* op : {"Relu", "Softmax", "Gemm"}) {
    Model model;
    model.Add(op, {"x", "x", "x"}, {"y", "z"})
        ->mutable_input()
        ->DeleteSubrange(op[0] == 'G' ? 2 : 1, op[0] == 'G' ? 1 : 2);
    EXPECT_ERROR(model, "invalid model", "");
  }
}

TEST(Import, RefusesNamesMadeTwice) {
  Model inputs;
  Describe(inputs.proto.mutable_graph()->add_input(), "x");
  inputs.Add("Relu", {"x"}, {"y"});
  EXPECT_ERROR(inputs, "invalid model", "two inputs named 'x'");
  Model output;
  auto* w = output.proto.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(1);
  w->add_dims(1);
  w->add_float_data(1);
  output.Add("Relu", {"x"}, {"w"});
  output.Add("Neg", {"w"}, {"y"});
  EXPECT_ERROR(output, "invalid model", "makes 'w', which is an input or initializer");
}

TEST(Import, AsksForTheOpsetOfOperatorsInUse) {
  Model model(0);
  auto* other = model.proto.add_opset_import();
  other->set_domain("com.microsoft");
  other->set_version(1);
  model.Add("Relu", {"x"}, {"y"});
  EXPECT_ERROR(model, "invalid model", "opset_import");
  Model negative(-3);
  negative.Add("Relu", {"x"}, {"y"});
  EXPECT_ERROR(negative, "invalid model", "must be at least 1, got -3");
}

TEST(Import, LetsACallLeaveParametersOut) {
  Model model;
  AddNode(model.Function("F", {"a", "low", "high"})->mutable_node(), "Clip", {"a", "low", "high"}, {"b"});
  model.Add("F", {"x", ""}, {"y"})->set_domain("local");
  EXPECT_EQ(model.Error(), "no error");
}

TEST(Import, EndsFunctionsThatCallThemselvesInABranch) {
  Model model;
  auto* nodes = model.Function("F", {"a"})->mutable_node();
  auto* branch = AddNode(nodes, "If", {"a"}, {"b"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* g = AddAttr(branch, name, pb::AttributeProto::GRAPH)->mutable_g();
    AddNode(g->mutable_node(), "F", {"a"}, {"t"})->set_domain("local");
    Describe(g->add_output(), "t");
  }
  model.Add("F", {"x"}, {"y"})->set_domain("local");
  EXPECT_ERROR(model, "invalid model", "nest deeper");
}

TEST(Import, StopsFunctionsThatMultiply) {
  Model model;
  for (int i = 0; i < 40; ++i) {
    auto* nodes = model.Function(StrCat("F", i).c_str(), {"a"})->mutable_node();
    AddNode(nodes, StrCat("F", i + 1).c_str(), {"a"}, {"m"})->set_domain("local");
    AddNode(nodes, StrCat("F", i + 1).c_str(), {"m"}, {"b"})->set_domain("local");
  }
  AddNode(model.Function("F40", {"a"})->mutable_node(), "Neg", {"a"}, {"b"});
  model.Add("F0", {"x"}, {"y"})->set_domain("local");
  EXPECT_ERROR(model, "unsupported", "nodes once its functions are inlined");
}

// Adds a loop that contains `depth` nested loops. Each iteration of a loop enlarges its state.
void AddLoop(google::protobuf::RepeatedPtrField<pb::NodeProto>* nodes, int depth) {
  const std::string d = StrCat(depth);
  auto* body = AddAttr(AddNode(nodes, "Loop", {"n", "", "x"}, {"l" + d}), "body", pb::AttributeProto::GRAPH)
                   ->mutable_g();
  if (depth) AddLoop(body->mutable_node(), depth - 1);
  AddNode(body->mutable_node(), "Identity", {"c" + d}, {"k" + d});
  AddAttr(AddNode(body->mutable_node(), "Concat", {"s" + d, "s" + d}, {"o" + d}), "axis",
          pb::AttributeProto::INT)
      ->set_i(0);
  Describe(body->add_input(), ("i" + d).c_str(), DType::kI64, 0);
  Describe(body->add_input(), ("c" + d).c_str(), DType::kBool, 0);
  body->add_input()->set_name("s" + d);
  body->add_output()->set_name("k" + d);
  body->add_output()->set_name("o" + d);
}

TEST(Import, InfersDeeplyNestedLoopsOnce) {
  Model model;
  Describe(model.proto.mutable_graph()->add_input(), "n", DType::kI64, 0);
  AddLoop(model.proto.mutable_graph()->mutable_node(), 30);
  model.proto.mutable_graph()->mutable_output(0)->clear_type();
  model.proto.mutable_graph()->mutable_output(0)->set_name("l30");
  EXPECT_EQ(model.Error(), "no error");
}

pb::SparseTensorProto* AddSparse(Model& model, int data_type, int64_t index) {
  auto* s = model.proto.mutable_graph()->add_sparse_initializer();
  s->mutable_values()->set_name("w");
  s->mutable_values()->set_data_type(data_type);
  s->mutable_values()->add_dims(1);
  s->mutable_indices()->set_data_type(7);
  s->mutable_indices()->add_dims(1);
  s->mutable_indices()->add_int64_data(index);
  s->add_dims(1000);
  model.Add("Identity", {"w"}, {"y"});
  return s;
}

TEST(Import, ChecksSparseTensors) {
  Model text;
  AddSparse(text, 8, 3)->mutable_values()->add_string_data("text long enough to be kept on the heap");
  EXPECT_ERROR(text, "unsupported", "sparse tensor 'w' of string");
  Model packed;
  AddSparse(packed, 22, 999)->mutable_values()->add_int32_data(1);
  EXPECT_ERROR(packed, "unsupported", "sparse tensor 'w' of i4");
  for (int64_t index : {int64_t{-1}, int64_t{1000}, INT64_MAX}) {
    Model outside;
    AddSparse(outside, 1, index)->mutable_values()->add_float_data(1);
    EXPECT_ERROR(outside, "invalid model", "is outside [0, 1000)");
  }
  Model wrapping;  // the linear index of the value, 2^62 * 4 + 4, overflows to 4, which is in range
  auto* s = AddSparse(wrapping, 1, int64_t{1} << 62);
  s->mutable_values()->add_float_data(1);
  s->mutable_indices()->clear_dims();
  s->mutable_indices()->add_dims(1);
  s->mutable_indices()->add_dims(2);
  s->mutable_indices()->add_int64_data(4);
  s->add_dims(4);
  EXPECT_ERROR(wrapping, "invalid model", "is outside");
}

TEST(Import, RefusesNegativeDimsBesideZeros) {
  Model model;
  auto* w = model.proto.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(1);
  w->add_dims(-3);
  w->add_dims(0);
  model.Add("Add", {"x", "w"}, {"y"});
  EXPECT_ERROR(model, "invalid model", "impossible dims [-3,0]");
}

// The dims are [0, 2^31, 2^30]. The tensor is empty, but 2^31 * 2^30 elements of 4 bytes overflow the size.
TEST(Import, RefusesEmptyTensorsBeyondMemory) {
  Model model;
  auto* w = model.proto.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(1);
  for (int64_t d : {int64_t{0}, int64_t{1} << 31, int64_t{1} << 30}) w->add_dims(d);
  model.Add("Add", {"x", "w"}, {"y"});
  EXPECT_ERROR(model, "invalid model", "impossible dims [0,2147483648,1073741824]");
}

TEST(Import, ReadsDimsThatDivideTheSmallestNumber) {
  for (const char* text : {"floordiv(-9223372036854775807-1,-1)", "mod((-9223372036854775807-1)*n,-1)",
                           "ceildiv(-9223372036854775807-1,-1)"}) {
    Model model;
    model.proto.mutable_graph()
        ->mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(0)
        ->set_dim_param(text);
    model.Add("Relu", {"x"}, {"y"});
    EXPECT_EQ(model.Error(), "no error");
  }
}

TEST(Import, RefusesAbsentInputsOfBodies) {
  for (int opset : {8, 18}) {
    Model model(opset);
    auto* scan = model.Add("Scan", {"", "", "x"}, {"y"});
    AddAttr(scan, "num_scan_inputs", pb::AttributeProto::INT)->set_i(1);
    auto* body = AddAttr(scan, "body", pb::AttributeProto::GRAPH)->mutable_g();
    body->add_input()->set_name("e");
    body->add_output()->set_name("e");
    EXPECT_ERROR(model, "invalid model", "is missing");
  }
}

}  // namespace
}  // namespace tern
