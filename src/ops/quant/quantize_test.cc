#include <cmath>

#include "ops/test_graph.h"

namespace tern {
namespace {

Tensor F32(const Dims& dims, const std::vector<double>& values) {
  return Tensor::Of(DType::kF32, dims, values);
}

std::vector<int64_t> Quantized(const std::vector<double>& x, double scale, const AttrList& attrs) {
  return ToLongs(OutputOf("Quantize", {F32({static_cast<int64_t>(x.size())}, x), F32({}, {scale})}, attrs));
}

TEST(Quantize, RoundsTiesToEvenAndSaturates) {
  EXPECT_EQ(Quantized({0.5, 1.5, 2.5, -1, 1e30, INFINITY, NAN}, 1, {}),
            (std::vector<int64_t>{0, 2, 2, 0, 255, 255, 0}));
  EXPECT_EQ(Quantized({-9, 9, 3}, 1, {{"to", DType::kI4}}), (std::vector<int64_t>{-8, 7, 3}));
  EXPECT_EQ(Quantized({-9, 9, 1}, 1, {{"to", DType::kI2}}), (std::vector<int64_t>{-2, 1, 1}));
  EXPECT_EQ(Quantized({1e9, -1e9}, 1, {{"to", DType::kI16}}), (std::vector<int64_t>{32767, -32768}));
  EXPECT_EQ(Quantized({1, 0}, 0, {}), (std::vector<int64_t>{255, 0}));
}

TEST(Quantize, BlocksWithARemainder) {
  const Tensor x = F32({1, 5}, {2, 4, 6, 8, 10}), scale = F32({1, 3}, {1, 2, 5});
  const Tensor y = OutputOf("Quantize", {x, scale}, {{"axis", int64_t{1}}, {"block_size", int64_t{2}}});
  EXPECT_EQ(ToLongs(y), (std::vector<int64_t>{2, 4, 3, 4, 2}));
  const Tensor back = OutputOf("Dequantize", {y, scale}, {{"axis", int64_t{1}}, {"block_size", int64_t{2}}});
  EXPECT_EQ(ToDoubles(back), ToDoubles(x));
}

TEST(Quantize, PerAxisAndNegativeAxis) {
  const Tensor x = F32({2, 2}, {2, 4, 6, 8}), scale = F32({2}, {1, 2});
  EXPECT_EQ(ToLongs(OutputOf("Quantize", {x, scale}, {{"axis", int64_t{0}}})),
            (std::vector<int64_t>{2, 4, 3, 4}));
  EXPECT_EQ(ToLongs(OutputOf("Quantize", {x, scale}, {{"axis", int64_t{-1}}})),
            (std::vector<int64_t>{2, 2, 6, 4}));
}

TEST(Quantize, MismatchesAreRefused) {
  const Tensor x = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto refused = [&](const Tensor& scale, const Tensor& zero, const AttrList& attrs) {
    return !EvaluateOp("Quantize", {x, scale, zero}, attrs).ok();
  };
  EXPECT_TRUE(refused(F32({2}, {1, 1}), {}, {}));
  EXPECT_TRUE(refused(F32({3}, {1, 1, 1}), {}, {{"axis", int64_t{2}}}));
  EXPECT_TRUE(refused(F32({3}, {1, 1, 1}), Tensor(DType::kU8, {2}), {}));
  EXPECT_TRUE(refused(F32({2, 1}, {1, 1}), {}, {{"block_size", int64_t{2}}}));
  EXPECT_TRUE(refused(F32({2, 1}, {1, 1}), {}, {{"block_size", int64_t{-3}}}));
  EXPECT_TRUE(refused(F32({}, {1}), {}, {{"to", DType::kF32}}));
  EXPECT_TRUE(refused(F32({}, {1}), Tensor(DType::kI8, {}), {{"to", DType::kU8}}));
  EXPECT_FALSE(refused(F32({2, 1}, {1, 1}), {}, {{"block_size", int64_t{3}}}));
}

TEST(Dequantize, TakesEveryQuantizedType) {
  for (DType t :
       {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kI4, DType::kU4, DType::kI2,
        DType::kU2, DType::kF4E2M1, DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2, DType::kF8E5M2FNUZ})
    EXPECT_EQ(ToDoubles(OutputOf("Dequantize", {Tensor::Of(t, {2}, {1, 0}), F32({}, {0.5})})),
              (std::vector<double>{0.5, 0}))
        << DTypeName(t);
}

}  // namespace
}  // namespace tern
