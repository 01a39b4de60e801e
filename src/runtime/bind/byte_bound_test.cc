// Tests the integer kernels in sessions that run several batch sizes.
#include "runtime/test_support.h"

namespace tern {
namespace {

// The weights are large enough to be released after they are packed. The kernels of later plans must not read
// them.
TEST(ByteBound, RunsOtherBatchesAfterU8WeightsAreReleased) {
  const auto graph = ParseOrDie(R"(graph @g(%x: u8[N,256]) -> (%y) {
  #s: f32[] = (0.1)  #z: u8[] = (128)  #d: i64[2] = (256, 128)
  %w = Fill(#d) {value=u8[] (130)}
  %y = QMatMul(%x, #s, _, %w, #s, #z, #s)
})");
  ASSERT_TRUE(graph);
  const auto session = SessionOf(graph, {});
  for (int64_t n : {1, 2, 5}) {
    Tensor x(DType::kU8, {n, 256});
    for (int64_t i = 0; i < x.size(); ++i) StoreLong(x, i, 1);
    const auto y = session->Run({Datum(x)});
    ASSERT_TRUE(y.ok()) << y.status().ToString();
    const Tensor& t = (*y)[0].tensor;
    ASSERT_EQ(t.dims(), (Dims{n, 128}));
    for (int64_t i = 0; i < t.size(); ++i) ASSERT_EQ(LoadLong(t, i), 51);  // round(256 * 2 * 0.1)
  }
}

}  // namespace
}  // namespace tern
