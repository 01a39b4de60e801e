#include "kernels/cpu/quant/integer.h"

#include "kernels/cpu/byte/byte_test_support.h"

namespace tern::cpu {
namespace {

class ByteBinaryLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, ByteBinaryLevels, testing::ValuesIn(LevelsHere()));

// Returns the product before it is rounded. Each operation is rounded to float.
float Product(float a, float b, float multiplier, float zero) {
  volatile float v = a * b;
  v = v * multiplier;
  v = v + zero;
  return v;
}

TEST_P(ByteBinaryLevels, MatchPlainLoops) {
  for (int64_t n : {1, 15, 64, 1000})
    for (bool broadcast : {false, true})
      for (DType a_type : {DType::kU8, DType::kI8})
        for (DType b_type : {DType::kU8, DType::kI8}) {
          const auto a = RandomBytes(3 * n, 1), b = RandomBytes(broadcast ? n : 3 * n, 2);
          const Dims dims = {3, n}, b_dims = broadcast ? Dims{n} : dims;
          const Broadcast<2> plan = MakeBroadcast<2>(dims, {dims, b_dims});
          const ByteOperand p{a_type, a.data(), 3, 0.63f}, q{b_type, b.data(), -2, 0.41f};
          const ByteRange to = FullRange(a_type, 5);
          ByteRange whole = to;
          whole.low += to.zero, whole.high += to.zero, whole.zero = 0;
          std::vector<uint8_t> sum(static_cast<size_t>(3 * n)), product(sum.size());
          ByteSum(plan, p, q, 1.5f, to, sum.data(), Workers(2));
          ByteProduct(plan, p, q, 0.013f, to, product.data(), Workers(2));
          for (int64_t i = 0; i < 3 * n; ++i) {
            const auto at = static_cast<size_t>(i);
            const auto x = static_cast<float>(NumberOf(a_type, a[at])),
                       z = static_cast<float>(
                           NumberOf(b_type, b[broadcast ? at % static_cast<size_t>(n) : at]));
            ASSERT_EQ(NumberOf(a_type, sum[at]),
                      Quantized(std::fma(x, p.ratio, std::fma(z, q.ratio, 1.5f)), whole));
            ASSERT_EQ(NumberOf(a_type, product[at]), Quantized(Product(x - 3, z + 2, 0.013f, 5), whole));
          }
        }
}

// Ratios that the kernels for 8-bit elements do not support.
TEST_P(ByteBinaryLevels, LargeRatiosSaturate) {
  const std::vector<uint8_t> a(40, 1), b(40, 0);
  const Dims dims = {40};
  const Broadcast<2> plan = MakeBroadcast<2>(dims, {dims, dims});
  std::vector<uint8_t> y(40);
  ByteSum(plan, {DType::kU8, a.data(), 0, 1e38f}, {DType::kU8, b.data(), 0, NAN}, 0, FullRange(DType::kU8, 9),
          y.data(), Workers(1));
  EXPECT_EQ(y, std::vector<uint8_t>(40, 9));  // NaN becomes the zero point
  ByteProduct(plan, {DType::kU8, a.data(), 0}, {DType::kU8, a.data(), 0}, INFINITY, FullRange(DType::kU8, 9),
              y.data(), Workers(1));
  EXPECT_EQ(y, std::vector<uint8_t>(40, 255));
}

}  // namespace
}  // namespace tern::cpu
