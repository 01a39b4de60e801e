#include "export/onnx/without_fused.h"

#include <gtest/gtest.h>

#include "export/onnx/exporter.h"
#include "import/onnx/importer.h"
#include "ir/evaluate.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/ops.h"

namespace tern::onnx {
namespace {

// Graphs with Fused nodes in a branch of If and in the body of another Fused node. Some bodies return an
// input, or the same value twice.
const char* const kGroups[] = {
    R"(graph @g(%c: bool[], %x: f32[2]) -> (%y) {
      %y = If(%c) [then @t() -> (%a) {
        %a = Fused(%x) [body @f(%u: f32[2]) -> (%s) { #k: f32[2] = (3, 4)  %s = %u + #k }]
      } else @e() -> (%b) { %b = Relu(%x) }]
    })",
    R"(graph @g(%c: bool[], %x: f32[2]) -> (%y, %z) {
      %y, %z = Fused(%x, %x) [body @f(%u: f32[2], %v: f32[2]) -> (%r, %r) {
        %q = %u * %v
        %r = Fused(%q) [body @h(%k: f32[2]) -> (%m) { %m = %k - %x }]
      }]
    })",
    R"(graph @g(%c: bool[], %x: f32[2]) -> (%y, %z, %w) {
      %y, %z, %a = Fused(%x, %c) [body @f(%u: f32[2], %v: bool[]) -> (%u, %k, %t) {
        %t = %u + %u
        %k = Where(%v, %u, %t)
      }]
      %w = Relu(%a)
    })"};

TEST(WithoutFused, ExportsTheBodies) {
  InitOps();
  for (const char* text : kGroups) {
    SCOPED_TRACE(text);
    auto graph = ParseGraph(text);
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    const auto flat = WithoutFused(**graph);
    ASSERT_TRUE(flat);
    EXPECT_TRUE(VerifyGraph(*flat).ok()) << VerifyGraph(*flat).ToString();
    EXPECT_FALSE(WithoutFused(*flat));
    auto bytes = ExportBytes(**graph);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    auto back = ImportBytes(bytes->data(), bytes->size());
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    for (double c : {0, 1}) {
      const DatumList feeds = {Tensor::Scalar(DType::kBool, c), Tensor::Of(DType::kF32, {2}, {1, -2})};
      const auto want = EvaluateGraph(**graph, feeds), got = EvaluateGraph(**back, feeds);
      ASSERT_TRUE(want.ok() && got.ok()) << want.status().ToString() << got.status().ToString();
      for (size_t i = 0; i < want->size(); ++i) {
        EXPECT_TRUE(SameTensor((*got)[i].tensor, (*want)[i].tensor)) << i;
        EXPECT_EQ((*back)->outputs()[i]->name, (*graph)->outputs()[i]->name);
      }
    }
  }
}

}  // namespace
}  // namespace tern::onnx
