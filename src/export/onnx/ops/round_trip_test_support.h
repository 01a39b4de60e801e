// For tests. Runs a graph given as text, before and after it is exported to ONNX and imported again.
#pragma once
#include <gtest/gtest.h>

#include <cmath>

#include "export/onnx/exporter.h"
#include "import/onnx/importer.h"
#include "ir/evaluate.h"
#include "ir/text.h"
#include "ops/ops.h"

namespace tern::onnx {

inline DatumList FeedsOf(const Graph& graph) {
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

inline double ToleranceOf(DType t) { return t == DType::kBF16 ? 2e-2 : t == DType::kF16 ? 4e-3 : 1e-5; }

// Expects the same first output before and after the round trip. The reference evaluator runs both graphs.
inline void ExpectRoundTrip(const std::string& text, const ExportOptions& options = {}) {
  InitOps();
  auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  auto bytes = ExportBytes(**graph, options);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  auto back = ImportBytes(bytes->data(), bytes->size());
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  const DatumList feeds = FeedsOf(**graph);
  auto want = EvaluateGraph(**graph, feeds), got = EvaluateGraph(**back, feeds);
  ASSERT_TRUE(want.ok() && got.ok()) << want.status().ToString() << got.status().ToString();
  const Tensor &a = (*got)[0].tensor, &b = (*want)[0].tensor;
  ASSERT_EQ(a.Describe(), b.Describe());
  for (int64_t i = 0; i < b.size(); ++i) {
    const bool is_float = IsFloat(b.dtype());
    const double x = is_float ? LoadDouble(a, i) : static_cast<double>(LoadLong(a, i)),
                 y = is_float ? LoadDouble(b, i) : static_cast<double>(LoadLong(b, i));
    EXPECT_TRUE((std::isnan(x) && std::isnan(y)) ||
                std::fabs(x - y) <= ToleranceOf(b.dtype()) * (1 + std::fabs(y)))
        << "element " << i << ": " << x << " instead of " << y;
  }
}

}  // namespace tern::onnx
