#include <gtest/gtest.h>

#include "ir/text.h"
#include "runtime/exec/session.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

constexpr int64_t kInputs = 512, kOutputs = 256;
constexpr double kFloatBytes = 4.0 * kInputs * kOutputs;

// Returns a MatMul by weights of `type` with blocks of 32, in the form of importers.
std::unique_ptr<Graph> DequantizedProduct(DType type) {
  InitOps();
  auto parsed = ParseGraph(StrCat("graph @g(%x: f32[N,512], %w: ", DTypeName(type),
                                  "[512,256], %s: f32[16,256]) -> (%y) {\n"
                                  "  %y = MatMul(%x, Dequantize(%w, %s) {axis=0, block_size=32})\n}"));
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  const std::vector<Value*> inputs = (*parsed)->inputs();
  Tensor w(type, {kInputs, kOutputs}), s(DType::kF32, {kInputs / 32, kOutputs});
  for (int64_t i = 0; i < w.size(); ++i) StoreLong(w, i, i * 7 % 15 - 7);
  for (int64_t i = 0; i < s.size(); ++i) s.data<float>()[i] = 0.25f * static_cast<float>(1 + i % 3);
  (*parsed)->InputToConstant(inputs[1], w);
  (*parsed)->InputToConstant(inputs[2], s);
  return std::move(*parsed);
}

TEST(MatMulNBits, WeightsStayQuantizedInMemory) {
  for (const auto& [type, share] : {std::pair(DType::kI4, 0.15), std::pair(DType::kI8, 0.28)}) {
    SessionOptions options;
    options.level = Level::kLayout;
    auto session = Session::Create(DequantizedProduct(type), options);
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    for (int64_t rows : {1, 40}) {
      auto y = (*session)->Run(DatumList{Datum(Noise({rows, kInputs}, 3))});
      ASSERT_TRUE(y.ok()) << y.status().ToString();
    }
    const MemoryReport memory = (*session)->Memory();
    EXPECT_LT(static_cast<double>(memory.packed), share * kFloatBytes) << DTypeName(type);
    EXPECT_EQ(memory.folded, 0u) << DTypeName(type);
    EXPECT_LT(static_cast<double>(memory.weights), share * kFloatBytes) << DTypeName(type);
    EXPECT_EQ((*session)->Steps()[0].kernel, "cpu.nbits");
  }
}

}  // namespace
}  // namespace tern
