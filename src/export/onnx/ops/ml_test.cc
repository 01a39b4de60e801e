#include "export/onnx/ops/round_trip_test_support.h"

namespace tern::onnx {
namespace {

// -0 and +0 are the same key, and so are all NaNs. The last entry of a key counts.
TEST(ExportLabelEncoder, WritesEachKeyOnce) {
  InitOps();
  auto graph = ParseGraph(R"(graph @g(%x: f32[3]) -> (%y) {
    %y = LabelEncoder(%x) {keys=f32[4] (-0.0, nan, 0, nan), values=i64[4] (1, 2, 3, 4), otherwise=i64[1] (9)}
  })");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  auto bytes = ExportBytes(**graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  auto back = ImportBytes(bytes->data(), bytes->size());
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  ASSERT_EQ((*back)->nodes().size(), 1u);
  for (const Attrs::Entry& entry : (*back)->nodes().front()->attrs.List()) {
    if (entry.name != "values") continue;
    EXPECT_EQ(ToLongs(std::get<Tensor>(entry.value)), (std::vector<int64_t>{3, 4}));
  }
}

}  // namespace
}  // namespace tern::onnx
