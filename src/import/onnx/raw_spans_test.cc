#include "import/onnx/raw_spans.h"

#include <gtest/gtest.h>

#include <cstring>

#include "import/onnx/importer.h"
#include "ops/ops.h"

namespace tern::onnx {
namespace {

std::string Floats(int count, float first) {
  std::string bytes(static_cast<size_t>(count) * 4, '\0');
  for (int i = 0; i < count; ++i) {
    const float v = first + static_cast<float>(i);
    std::memcpy(bytes.data() + i * 4, &v, 4);
  }
  return bytes;
}

void Fill(pb::TensorProto& t, const std::string& name, int count, float first) {
  t.set_name(name);
  t.set_data_type(1);
  t.add_dims(count);
  t.set_raw_data(Floats(count, first));
}

// Returns the model y = x + w + c + s. w is an initializer, c is the value of a Constant node, and s is a
// small initializer.
pb::ModelProto Sum(int count) {
  pb::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  auto& graph = *model.mutable_graph();
  graph.set_name("sum");
  Fill(*graph.add_initializer(), "s", 1, 0.5f);
  Fill(*graph.add_initializer(), "w", count, 1);
  auto& constant = *graph.add_node();
  constant.set_op_type("Constant");
  constant.add_output("c");
  auto& value = *constant.add_attribute();
  value.set_name("value");
  value.set_type(pb::AttributeProto::TENSOR);
  Fill(*value.mutable_t(), "", count, 100);
  const auto add = [&](const char* a, const char* b, const char* y) {
    auto& node = *graph.add_node();
    node.set_op_type("Add");
    node.add_input(a), node.add_input(b), node.add_output(y);
  };
  add("x", "w", "p"), add("p", "c", "q"), add("q", "s", "y");
  for (auto* info : {graph.add_input(), graph.add_output()}) {
    info->set_name(info == &graph.input(0) ? "x" : "y");
    auto& type = *info->mutable_type()->mutable_tensor_type();
    type.set_elem_type(1);
    type.mutable_shape()->add_dim()->set_dim_value(count);
  }
  return model;
}

TEST(RawSpans, LargeBytesStayWhereTheyAre) {
  const std::string bytes = Sum(2000).SerializeAsString();
  const auto split = SplitRawData(bytes.data(), bytes.size());
  ASSERT_TRUE(split);
  EXPECT_LT(split->stripped.size(), 1000u);
  ASSERT_EQ(split->spans.size(), 2u);
  for (const RawSpan& span : split->spans) {
    EXPECT_EQ(span.size, 8000u);
    EXPECT_GE(reinterpret_cast<const char*>(span.data), bytes.data());
    EXPECT_LE(reinterpret_cast<const char*>(span.data) + span.size, bytes.data() + bytes.size());
  }
  pb::ModelProto stripped;
  ASSERT_TRUE(stripped.ParseFromString(split->stripped));
  EXPECT_FALSE(stripped.graph().initializer(1).has_raw_data());
  EXPECT_EQ(stripped.graph().initializer(0).raw_data(), Floats(1, 0.5f));
  RawBytes raw;
  AddSpans(split->spans, stripped, raw);
  const Buffer w = raw.Take(stripped.graph().initializer(1)),
               c = raw.Take(stripped.graph().node(0).attribute(0).t());
  EXPECT_EQ(std::string(reinterpret_cast<char*>(w.data()), w.size()), Floats(2000, 1));
  EXPECT_EQ(std::string(reinterpret_cast<char*>(c.data()), c.size()), Floats(2000, 100));
  EXPECT_EQ(raw.Take(stripped.graph().initializer(1)).data(), w.data()) << "copied once";
  EXPECT_EQ(reinterpret_cast<uintptr_t>(w.data()) % 64, 0u);
}

TEST(RawSpans, AModelIsImportedWithThem) {
  const std::string bytes = Sum(300000).SerializeAsString();
  auto graph = ImportBytes(bytes.data(), bytes.size());
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  int found = 0;
  for (const auto& v : (*graph)->values()) {
    if (!v->is_constant() || v->constant.size() != 300000) continue;
    ++found;
    const float first = v->name == "w" ? 1 : 100;
    for (int64_t i : {0, 1, 262143, 262144, 299999})
      EXPECT_EQ(v->constant.data<float>()[i], first + static_cast<float>(i)) << v->name;
  }
  EXPECT_EQ(found, 2);
}

// For f32, a packed float_data has the same bytes as raw_data. For other types it does not. A tensor with
// both fields is not split.
TEST(RawSpans, FloatDataIsTakenToo) {
  pb::ModelProto model = Sum(2000);
  auto& w = *model.mutable_graph()->mutable_initializer(1);
  w.clear_raw_data();
  for (int i = 0; i < 2000; ++i) w.add_float_data(static_cast<float>(i) - 7);
  std::string bytes = model.SerializeAsString();
  const auto split = SplitRawData(bytes.data(), bytes.size());
  ASSERT_TRUE(split);
  ASSERT_EQ(split->spans.size(), 2u);
  EXPECT_LT(split->stripped.size(), 1000u);
  auto graph = ImportBytes(bytes.data(), bytes.size());
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  int found = 0;
  for (const auto& v : (*graph)->values()) found += v->name == "w" && v->constant.data<float>()[1999] == 1992;
  EXPECT_EQ(found, 1);

  w.set_data_type(14);  // complex64: two floats per element
  w.set_dims(0, 1000);
  bytes = model.SerializeAsString();
  const auto complex = SplitRawData(bytes.data(), bytes.size());
  ASSERT_TRUE(complex);
  EXPECT_EQ(complex->spans.size(), 1u) << "only the data of the Constant node";

  w.set_data_type(1);
  w.set_raw_data(Floats(2000, 1));
  bytes = model.SerializeAsString();
  EXPECT_FALSE(SplitRawData(bytes.data(), bytes.size())) << "the tensor has float_data and raw_data";
}

TEST(RawSpans, TheSizeIsChecked) {
  pb::ModelProto model = Sum(2000);
  model.mutable_graph()->mutable_initializer(1)->mutable_raw_data()->pop_back();
  const std::string bytes = model.SerializeAsString();
  auto graph = ImportBytes(bytes.data(), bytes.size());
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("needs 8000 bytes, but has 7999"), std::string::npos)
      << graph.status().message();
}

// SplitRawData refuses messages without large data. It also refuses messages in which protobuf must merge
// fields.
TEST(RawSpans, IsNotForWhatMustBeMerged) {
  const std::string bytes = Sum(2000).SerializeAsString();
  EXPECT_FALSE(SplitRawData((bytes + bytes).data(), 2 * bytes.size()));
  pb::ModelProto small = Sum(3);
  const std::string small_bytes = small.SerializeAsString();
  EXPECT_FALSE(SplitRawData(small_bytes.data(), small_bytes.size())) << "nothing is large";
  pb::TensorProto one;
  Fill(one, "w", 2000, 1);
  const std::string twice = one.SerializeAsString() + one.SerializeAsString();
  pb::ModelProto model = Sum(2000);
  model.mutable_graph()->clear_initializer();
  std::string graph = model.graph().SerializeAsString();
  graph += '\x2a';  // an initializer
  for (size_t n = twice.size(); n; n >>= 7) graph += static_cast<char>(n >= 128 ? n | 128 : n);
  graph += twice;
  std::string message = "\x3a";  // the graph
  for (size_t n = graph.size(); n; n >>= 7) message += static_cast<char>(n >= 128 ? n | 128 : n);
  message += graph;
  EXPECT_TRUE(pb::ModelProto().ParseFromString(message));
  EXPECT_FALSE(SplitRawData(message.data(), message.size()));
}

// SplitRawData refuses a known field with another wire type, which protobuf treats as unknown. It also
// refuses a second data_type, which in protobuf replaces the first.
TEST(RawSpans, IsNotForFieldsOfAnotherKind) {
  const auto delimited = [](char tag, const std::string& contents) {
    std::string out(1, tag);
    size_t n = contents.size();
    for (; n >= 128; n >>= 7) out += static_cast<char>(n | 128);
    return out + static_cast<char>(n) + contents;
  };
  pb::ModelProto model = Sum(2000);
  const std::string initializer = model.graph().initializer(1).SerializeAsString();
  for (const std::string& odd :
       {std::string("\x28\x01"), std::string("\x08\x01")}) {  // the fields initializer and node as numbers
    const std::string message = delimited('\x3a', odd + model.graph().SerializeAsString());
    ASSERT_TRUE(pb::ModelProto().ParseFromString(message));
    EXPECT_FALSE(SplitRawData(message.data(), message.size()));
  }
  const std::string retyped =
      delimited('\x3a', delimited('\x2a', initializer + "\x10\x07") + model.graph().SerializeAsString());
  ASSERT_TRUE(pb::ModelProto().ParseFromString(retyped));
  EXPECT_FALSE(SplitRawData(retyped.data(), retyped.size()));
}

TEST(RawSpans, ABrokenMessageIsRefusedWhereverItBreaksOff) {
  const std::string bytes = Sum(1100).SerializeAsString();
  for (size_t n = 0; n < bytes.size(); n += n % 7 + 1) {
    const std::string part = bytes.substr(0, n);  // has its own buffer, so that the sanitizer finds overruns
    EXPECT_EQ(SplitRawData(part.data(), n).has_value() && pb::ModelProto().ParseFromString(part), false) << n;
    EXPECT_FALSE(ImportBytes(part.data(), n).ok()) << n;
  }
}

}  // namespace
}  // namespace tern::onnx
