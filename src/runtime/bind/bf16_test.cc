// Tests which matrix products a session with Precision::kBf16 computes in bf16, and how it rounds their
// operands.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/strings.h"
#include "kernels/cpu/peak/bf16_gain.h"
#include "kernels/cpu/simd/bf16.h"
#include "kernels/cpu/simd/simd.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

SessionOptions In(Precision precision) {
  SessionOptions options;
  options.precision = precision;
  return options;
}

std::string LastKernel(Session& session, const Tensor& x) {
  EXPECT_TRUE(session.BindInput(0, x).ok());
  EXPECT_TRUE(session.Prepare().ok());
  const std::vector<StepInfo> steps = session.Steps();
  return steps.empty() ? "" : steps.back().kernel;
}

// Returns a graph that multiplies x[N, k] by weights [k, n]. All weights are 1/3, which bf16 cannot
// represent.
std::shared_ptr<const Graph> Product(int64_t k, int64_t n) {
  return ParseOrDie(StrCat("graph @g(%x: f32[N,", k, "]) -> (%y) {\n  #s: i64[2] = (", k, ", ", n,
                           ")\n  %w = Fill(#s) {value=f32[] (0.33333333)}\n  %y = MatMul(%x, %w)\n}"));
}

// Inputs are rounded to nearest even. Weights are rounded so that the sum of each column is preserved.
TEST(Bf16, RoundsProductsWithWeights) {
  auto session = SessionOf(Product(64, 48), In(Precision::kBf16));
  const Tensor ones =
      Tensor::Of(DType::kF32, {3, 64},
                 std::vector<double>(3 * 64, 1.00390625));  // halfway between two bf16 values; rounds to 1
  EXPECT_EQ(LastKernel(*session, ones), "cpu.gemm.packed.bf16");
  const auto got = session->Run(DatumList{ones});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  for (int64_t i = 0; i < 3 * 48; ++i)
    ASSERT_NEAR((*got)[0].tensor.data<const float>()[i], 64 / 3.0,
                0.001);  // rounding each weight to nearest would give an error of 0.04
}

TEST(Bf16, PacksHalfTheBytes) {
  size_t packed[2];
  for (int i = 0; i < 2; ++i) {
    auto session = SessionOf(Product(256, 128), In(i ? Precision::kBf16 : Precision::kF32));
    LastKernel(*session, Tensor(DType::kF32, {5, 256}));
    packed[i] = session->Memory().packed;
  }
  EXPECT_EQ(packed[0], 2 * packed[1]);
}

TEST(Bf16, LeavesTheRestAlone) {
  auto plain = SessionOf(Product(64, 48));
  EXPECT_EQ(LastKernel(*plain, Tensor(DType::kF32, {3, 64})), "cpu.gemm.packed.f32")
      << "bf16 was not requested";
  auto small = SessionOf(Product(8, 48), In(Precision::kBf16));
  EXPECT_EQ(LastKernel(*small, Tensor(DType::kF32, {3, 8})), "cpu.gemm.packed.f32")
      << "the product is too small for bf16 to be faster";
  auto open = SessionOf(ParseOrDie("graph @g(%x: f32[64,64]) -> (%y) {\n  %y = MatMul(%x, %x)\n}"),
                        In(Precision::kBf16));
  EXPECT_EQ(LastKernel(*open, Tensor(DType::kF32, {64, 64})), "cpu.gemm") << "there are no weights";
  auto reference = In(Precision::kAuto);
  reference.reference = true;
  auto exact = SessionOf(Product(64, 48), reference);
  EXPECT_EQ(LastKernel(*exact, Tensor(DType::kF32, {3, 64})), "reference");
}

TEST(Bf16, AutoAsksTheProcessor) {
  auto session = SessionOf(Product(64, 48), In(Precision::kAuto));
  EXPECT_EQ(LastKernel(*session, Tensor(DType::kF32, {3, 64})),
            cpu::Bf16Pays() ? "cpu.gemm.packed.bf16" : "cpu.gemm.packed.f32");
  for (const char* wanted : {"fp32", "bf16"}) {
    ::setenv("TERN_AUTO", wanted, 1);
    const bool bf16 = cpu::ActiveBf16Products() && *wanted == 'b';
    auto overridden = SessionOf(Product(64, 48), In(Precision::kAuto));
    EXPECT_EQ(LastKernel(*overridden, Tensor(DType::kF32, {3, 64})),
              bf16 ? "cpu.gemm.packed.bf16" : "cpu.gemm.packed.f32")
        << wanted;
  }
  ::unsetenv("TERN_AUTO");
  cpu::LimitBf16Products(false);
  auto without = SessionOf(Product(64, 48), In(Precision::kAuto));
  EXPECT_EQ(LastKernel(*without, Tensor(DType::kF32, {3, 64})), "cpu.gemm.packed.f32");
  cpu::LimitBf16Products(true);
}

// Pseudo-random weights make the gates of a layer differ.
TEST(Bf16, RecurrentLayers) {
  for (const char* kind : {"rnn", "gru", "lstm"}) {
    const int gates = *kind == 'r' ? 1 : *kind == 'g' ? 3 : 4;
    const auto graph = ParseOrDie(StrCat(
        "graph @g(%x: f32[5,2,48]) -> (%y) {\n  #ws: i64[3] = (1, ", gates * 64,
        ", 48)\n  #rs: i64[3] = (1, ", gates * 64, ", 64)\n  #n: i64[] = (", gates * 64 * 64,
        ")\n  #o: i64[] = (0)\n  #e: i64[] = (1)\n  %i = Range(#o, #n, #e)\n",
        "  %f = Cast(%i) {to=f32}\n  %s = Unary(%f) {kind=\"sin\"}\n  #t: f32[] = (0.1)\n  %m = Binary(%s, #t) "
        "{kind=\"mul\"}\n  %r = Reshape(%m, #rs)\n  #zero: i64[1] = (0)\n  #end: i64[1] = (",
        gates * 64 * 48,
        ")\n  %p = Slice(%m, #zero, #end)\n  %w = Reshape(%p, #ws)\n  %y = Rnn(%x, %w, %r) {kind=\"", kind,
        "\"}\n}"));
    if (!graph) return;
    std::vector<double> values;
    for (int i = 0; i < 5 * 2 * 48; ++i) values.push_back(std::sin(0.7 * i));
    const Tensor x = Tensor::Of(DType::kF32, {5, 2, 48}, values);
    Result<DatumList> y[2] = {DatumList(), DatumList()};
    for (int i = 0; i < 2; ++i) {
      auto session = SessionOf(graph, In(i ? Precision::kBf16 : Precision::kF32));
      EXPECT_EQ(LastKernel(*session, x), i ? "cpu.rnn.bf16" : "cpu.rnn.f32");
      y[i] = session->Run(DatumList{x});
      ASSERT_TRUE(y[i].ok()) << y[i].status().ToString();
    }
    double largest = 0;
    const Tensor &exact = (*y[0])[0].tensor, &rounded = (*y[1])[0].tensor;
    for (int64_t i = 0; i < exact.size(); ++i)
      largest =
          std::max<double>(largest, std::abs(exact.data<const float>()[i] - rounded.data<const float>()[i]));
    EXPECT_GT(largest, 0) << kind;
    EXPECT_LT(largest, 0.02) << kind;
  }
}

std::string ConvKernel(const Dims& x, const std::string& w, const std::string& attrs) {
  auto session = SessionOf(
      ParseOrDie(StrCat("graph @g(%x: ", Describe(DType::kF32, x), ") -> (%y) {\n  #s: i64[4] = (", w,
                        ")\n  %w = Fill(#s) {value=f32[] (0.5)}\n  %y = Conv(%x, %w) "
                        "{channels_last=true, ",
                        attrs, "}\n}")),
      In(Precision::kBf16));
  return session ? LastKernel(*session, Tensor(DType::kF32, x)) : "";
}

TEST(Bf16, Convolutions) {
  EXPECT_EQ(ConvKernel({1, 14, 14, 256}, "1024, 256, 1, 1", "group=1"), "cpu.conv.nhwc.pointwise.bf16");
  EXPECT_EQ(ConvKernel({1, 28, 28, 128}, "128, 128, 3, 3", "pads=[1,1,1,1],strides=[2,2]"),
            cpu::ActiveSimd() == cpu::SimdLevel::kAvx512 ? "cpu.conv.nhwc.direct.bf16"
                                                         : "cpu.conv.nhwc.im2col.bf16");
  EXPECT_EQ(ConvKernel({1, 14, 14, 256}, "256, 256, 3, 3", "pads=[1,1,1,1]"), "cpu.conv.winograd.f2x3.bf16");
  EXPECT_EQ(ConvKernel({1, 28, 28, 128}, "128, 1, 3, 3", "pads=[1,1,1,1],group=128"),
            "cpu.conv.nhwc.depthwise.f32");
}

}  // namespace
}  // namespace tern
