#include "kernels/cpu/byte/byte_panels.h"

#include "kernels/cpu/byte/byte_test_support.h"

namespace tern::cpu {
namespace {

struct Shape {
  int64_t m, n, k;
};
const Shape kShapes[] = {{1, 1, 1},    {1, 40, 64}, {3, 33, 7},   {4, 8, 16},    {5, 16, 4},
                         {14, 32, 12}, {15, 31, 9}, {29, 65, 34}, {50, 96, 64},  {7, 100, 0},
                         {0, 4, 4},    {4, 0, 4},   {2, 70, 513}, {33, 24, 130}, {60, 64, 2048}};

struct Operands8 {
  Shape s;
  DType a_type = DType::kU8, b_type = DType::kI8;
  int b_zero = 0;
  std::vector<uint8_t> a, b;

  Operands8(const Shape& shape, DType a_of, DType b_of)
      : s(shape),
        a_type(a_of),
        b_type(b_of),
        b_zero(b_of == DType::kU8 ? 128 : 0),
        a(RandomBytes(shape.m * shape.k, 1)),
        b(RandomBytes(shape.k * shape.n, 2)) {}
  int A(int64_t i, int64_t k) const { return NumberOf(a_type, a[static_cast<size_t>(i * s.k + k)]); }
  int B(int64_t k, int64_t j) const { return NumberOf(b_type, b[static_cast<size_t>(k * s.n + j)]) - b_zero; }
  // Returns the sum that kernels compute, without compensation: i8 elements of a are larger by 128.
  int64_t Sum(int64_t i, int64_t j) const {
    int64_t sum = 0;
    for (int64_t k = 0; k < s.k; ++k) sum += (A(i, k) + (a_type == DType::kI8 ? 128 : 0)) * B(k, j);
    return sum;
  }
};

std::vector<uint8_t> Multiply(const Operands8& o, const ByteEpilogue& e, int threads) {
  const Shape& s = o.s;
  const auto zero = static_cast<uint8_t>(o.b_zero);
  const ByteWeights w{o.b.data(), o.b_type, o.b_zero ? &zero : nullptr};
  EXPECT_TRUE(FitsI8(w, s.n, 1, s.k, s.n));
  std::vector<int8_t> packed(static_cast<size_t>(BytePackedSize(s.k, s.n)) + 64);
  auto* aligned = reinterpret_cast<int8_t*>((reinterpret_cast<uintptr_t>(packed.data()) + 63) / 64 * 64);
  PackBytes(w, s.n, 1, s.k, s.n, aligned, Workers(2));
  for (int64_t j = 0; j < s.n; ++j) {
    int32_t sum = 0;
    for (int64_t k = 0; k < s.k; ++k) sum += o.B(k, j);
    EXPECT_EQ(WeightSums(aligned)[j], sum);
  }
  const int64_t width = e.output == ByteOutput::kBytes ? 1 : 4;
  std::vector<uint8_t> c(static_cast<size_t>(s.m * s.n * width), 77);
  ByteGemm p;
  p.m = s.m, p.n = s.n, p.k = s.k;
  p.a = o.a.data(), p.a_type = o.a_type, p.a_row = s.k;
  p.panels = BytePanels(aligned, s.n), p.c = c.data(), p.c_row = s.n, p.epilogue = e;
  std::vector<double> scratch(ByteGemmScratch(p, threads) / sizeof(double) + 1);
  MultiplyBytes(p, scratch.data(), Workers(threads));
  return c;
}

class BytePanelLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, BytePanelLevels, testing::ValuesIn(LevelsAndVnniHere()));

TEST_P(BytePanelLevels, MatchPlainLoops) {
  for (const Shape& s : kShapes)
    for (DType a : {DType::kU8, DType::kI8})
      for (DType b : {DType::kI8, DType::kU8}) {
        const Operands8 o(s, a, b);
        std::vector<int64_t> sums;
        for (int64_t i = 0; i < s.m * s.n; ++i) sums.push_back(o.Sum(i / s.n, i % s.n));
        for (const EpilogueCase& c : Epilogues(s.m, s.n, s.k))
          for (int threads : {1, 2}) {
            const auto got = Multiply(o, c.e, threads);
            for (int64_t i = 0; i < s.m * s.n; ++i)
              ASSERT_EQ(c.At(got, i), c.Expected(sums[static_cast<size_t>(i)], i / s.n, i % s.n))
                  << c.name << " " << s.m << "x" << s.n << "x" << s.k << " at " << i;
          }
      }
}

// The largest sums of both signs.
TEST_P(BytePanelLevels, SumsAreExactAtTheExtremes) {
  for (int64_t k : {int64_t{4}, int64_t{1024}, kMaxByteDepth})
    for (uint8_t weight : {0x80, 0x7f}) {
      Operands8 o({6, 34, k}, DType::kU8, DType::kI8);
      std::fill(o.a.begin(), o.a.end(), uint8_t{255});
      std::fill(o.b.begin(), o.b.end(), weight);
      ByteEpilogue e;
      e.output = ByteOutput::kI32;
      const EpilogueCase c("i32", e, 6, 34, k);
      ByteEpilogue plain = c.e;
      plain.bias = nullptr;
      const auto got = Multiply(o, plain, 1);
      for (int64_t i = 0; i < 6 * 34; ++i)
        ASSERT_EQ(c.At(got, i), 255.0 * static_cast<int8_t>(weight) * static_cast<double>(k)) << k;
    }
}

// Every sum that a scale of 1/2 puts between two integers.
TEST_P(BytePanelLevels, RoundsHalfToEvenAndSaturates) {
  const Operands8 o({1, 64, 0}, DType::kU8, DType::kI8);
  for (int zero : {0, 1, 128, 255}) {
    ByteEpilogue e;
    e.to = FullRange(DType::kU8, zero);
    EpilogueCase c("halves", e, 1, 64, 1);
    for (int64_t j = 0; j < 64; ++j) {
      c.bias[static_cast<size_t>(j)] = static_cast<int32_t>(j < 60 ? j - 30 : (j % 2 ? 1 : -1) * (2 << 29));
      c.scale[static_cast<size_t>(j)] = j < 62 ? 0.5f : FiniteScale(INFINITY);
    }
    const auto got = Multiply(o, c.e, 1);
    for (int64_t j = 0; j < 64; ++j) EXPECT_EQ(c.At(got, j), c.Expected(0, 0, j)) << zero << " at " << j;
  }
}

TEST(ByteWeights, FitsI8) {
  const std::vector<uint8_t> w = {0, 255, 10, 200};
  const std::vector<uint8_t> zeros = {0, 100};
  EXPECT_TRUE(FitsI8({w.data(), DType::kI8}, 2, 1, 2, 2));
  EXPECT_FALSE(FitsI8({w.data(), DType::kU8}, 2, 1, 2, 2));
  const uint8_t middle = 128;
  EXPECT_TRUE(FitsI8({w.data(), DType::kU8, &middle}, 2, 1, 2, 2));
  EXPECT_FALSE(FitsI8({w.data(), DType::kU8, zeros.data(), true}, 2, 1, 2, 2));  // 255 - 100
  EXPECT_TRUE(FitsI8({w.data(), DType::kU8, zeros.data(), true}, 1, 2, 1, 2));   // 0 - 0, 10 - 100
}

TEST(ByteWeights, FiniteScale) {
  EXPECT_EQ(FiniteScale(NAN), 0);
  EXPECT_EQ(FiniteScale(0.5f), 0.5f);
  EXPECT_TRUE(std::isfinite(FiniteScale(-INFINITY)));
}

}  // namespace
}  // namespace tern::cpu
