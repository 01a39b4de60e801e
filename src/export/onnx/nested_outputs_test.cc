// Tests the outputs of nested graphs. In Tern, a nested graph may return inputs, captures, and the same value
// twice. In ONNX, it may return only its inputs and the values that it produces, each once.
#include <gtest/gtest.h>

#include <set>

#include "export/onnx/exporter.h"
#include "import/onnx/importer.h"
#include "import/onnx/proto_tensor.h"
#include "ir/evaluate.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace tern::onnx {
namespace {

const char* const kLoop = R"(graph @g(%n: i64[], %x: f32[2]) -> (%a, %b, %c) {
  %r = Relu(%x)
  %a, %b, %c = Loop(%n, _, %x, %x, %x) [body @b(%i: i64[], %go: bool[], %s: f32[2], %t: f32[2], %u: f32[2])
      -> (%go, %v, %v, %r) { %v = %s + %t }]
})";

TEST(ExportNested, OutputsAreMadeInsideAndNamedOnce) {
  InitOps();
  auto graph = ParseGraph(kLoop);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  auto bytes = ExportBytes(**graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  pb::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(*bytes));
  std::set<std::string> produced, names;
  for (const auto& node : model.graph().node())
    for (const auto& attribute : node.attribute()) {
      for (const auto& v : attribute.g().input()) produced.insert(v.name());
      for (const auto& inner : attribute.g().node())
        produced.insert(inner.output().begin(), inner.output().end());
      for (const auto& v : attribute.g().output()) {
        EXPECT_TRUE(produced.count(v.name())) << v.name();
        EXPECT_TRUE(names.insert(v.name()).second) << v.name();
      }
    }
  EXPECT_EQ(names.size(), 4u);
}

TEST(ExportNested, ComesBackWithTheSameResults) {
  InitOps();
  auto graph = ParseGraph(kLoop);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  auto bytes = ExportBytes(**graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  auto back = ImportBytes(bytes->data(), bytes->size());
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  const DatumList feeds = {Tensor::Of(DType::kI64, {}, {3}), Tensor::Of(DType::kF32, {2}, {1, -2})};
  auto want = EvaluateGraph(**graph, feeds), got = EvaluateGraph(**back, feeds);
  ASSERT_TRUE(want.ok() && got.ok()) << want.status().ToString() << got.status().ToString();
  for (size_t k = 0; k < 3; ++k)
    for (int64_t i = 0; i < 2; ++i)
      EXPECT_EQ(LoadDouble((*got)[k].tensor, i), LoadDouble((*want)[k].tensor, i)) << k;
}

}  // namespace
}  // namespace tern::onnx
