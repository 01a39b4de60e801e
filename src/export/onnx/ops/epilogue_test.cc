// Fused nodes leave as plain operators, and come back with the same results.
#include <gtest/gtest.h>

#include <cmath>

#include "export/onnx/exporter.h"
#include "import/onnx/importer.h"
#include "ir/evaluate.h"
#include "ir/text.h"
#include "ops/ops.h"
#include "ops/support/epilogue.h"

namespace tern::onnx {
namespace {

DatumList FeedsOf(const Graph& graph) {
  DatumList feeds;
  for (const Value* v : graph.inputs()) {
    const Dims dims = v->type.shape.Concrete();
    std::vector<double> values;
    for (int64_t i = 0; i < CountOf(dims); ++i)
      values.push_back(std::sin(1.7 * static_cast<double>(i) + 1) * 2);
    feeds.push_back(Tensor::Of(v->type.dtype, dims, values));
  }
  return feeds;
}

double ToleranceOf(DType t) { return t == DType::kBF16 ? 2e-2 : t == DType::kF16 ? 4e-3 : 1e-5; }

void CheckRoundTrip(const std::string& text) {
  SCOPED_TRACE(text);
  InitOps();
  auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  auto bytes = ExportBytes(**graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  auto back = ImportBytes(bytes->data(), bytes->size());
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  const DatumList feeds = FeedsOf(**graph);
  auto want = EvaluateGraph(**graph, feeds), got = EvaluateGraph(**back, feeds);
  ASSERT_TRUE(want.ok() && got.ok()) << want.status().ToString() << got.status().ToString();
  const Tensor &a = (*got)[0].tensor, &b = (*want)[0].tensor;
  ASSERT_EQ(a.Describe(), b.Describe());
  for (int64_t i = 0; i < b.size(); ++i) {
    const bool numbers = IsFloat(b.dtype());
    const double x = numbers ? LoadDouble(a, i) : static_cast<double>(LoadLong(a, i)),
                 y = numbers ? LoadDouble(b, i) : static_cast<double>(LoadLong(b, i));
    EXPECT_TRUE((std::isnan(x) && std::isnan(y)) ||
                std::fabs(x - y) <= ToleranceOf(b.dtype()) * (1 + std::fabs(y)))
        << "element " << i << ": " << x << " instead of " << y;
  }
}

std::string Fused(const std::string& op, const std::string& inputs, const std::string& arguments,
                  const std::string& attrs) {
  return StrCat("graph @g(", inputs, ") -> (%y) {\n  %y = ", op, "(", arguments, ") {", attrs, "}\n}");
}

TEST(ExportEpilogue, EveryActivation) {
  for (const char* kind : EpilogueNames())
    CheckRoundTrip(Fused("MatMul", "%a: f32[3,4], %b: f32[4,5], %r: f32[3,1]", "%a, %b, _, %r",
                         StrCat("activation=\"", kind, "\", act_alpha=0.75, act_beta=1.5")));
}

TEST(ExportEpilogue, MatMul) {
  for (const char* type : {"f32", "f64", "f16", "bf16"})
    for (const char* attrs :
         {"activation=\"relu\"", "activation=\"clip\", act_alpha=0, act_beta=inf",
          "transpose_b=true, alpha=0.5", "alpha=0.5, activation=\"swish\", act_alpha=1.7"}) {
      const std::string t = type;
      CheckRoundTrip(Fused("MatMul",
                           StrCat("%a: ", t, "[4,4], %b: ", t, "[4,4], %c: ", t, "[4], %r: ", t, "[4,4]"),
                           "%a, %b, %c, %r", attrs));
      CheckRoundTrip(Fused("MatMul", StrCat("%a: ", t, "[2,4,4], %b: ", t, "[4,4], %r: ", t, "[]"),
                           "%a, %b, _, %r", attrs));
    }
}

TEST(ExportEpilogue, Convolutions) {
  for (const std::string t : {"f32", "f64", "f16", "bf16"})
    for (const std::string attrs : {"activation=\"relu\"", "activation=\"clip\", act_alpha=0, act_beta=inf",
                                    "strides=[2,2], pads=[1,1,1,1], activation=\"gelu\"", "group=2"})
      for (const std::string op : {"Conv", "ConvTranspose"}) {
        const std::string x = StrCat("%x: ", t, "[1,4,6,6], "),
                          w = StrCat("%w: ", t, attrs == "group=2" ? "[4,2,3,3], " : "[4,4,3,3], "),
                          r = StrCat("%r: ", t, "[4,1,1]"), bias = StrCat("%c: ", t, "[4], ");
        CheckRoundTrip(Fused(op, x + w + r, "%x, %w, _, %r", attrs));
        if (op == "Conv" || attrs != "group=2")
          CheckRoundTrip(Fused(op, x + w + bias + r, "%x, %w, %c, %r", attrs));
      }
  CheckRoundTrip(
      Fused("Conv", "%x: u8[1,2,4,4], %w: i8[3,2,3,3], %c: i32[3], %r: i32[3,2,2]", "%x, %w, %c, %r", ""));
  CheckRoundTrip(Fused("Conv", "%x: i32[1,2,4,4], %w: i32[3,2,3,3], %r: i32[1]", "%x, %w, _, %r", ""));
}

}  // namespace
}  // namespace tern::onnx
