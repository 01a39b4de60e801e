#include "kernels/cpu/nbits/nbits.h"

#include <cmath>
#include <limits>

#include "base/dtype.h"
#include "core/buffer.h"
#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

// Quantized weights, and the matrix that they represent.
struct Weights {
  NBitsLayout layout;
  NBitsSource source;
  std::vector<uint8_t> q, zero;
  std::vector<float> scale;
  std::vector<uint16_t> halves;
  std::vector<double> real;  // [k, n]
};

int ElementAt(const std::vector<uint8_t>& q, int bits, bool is_signed, int64_t i) {
  const auto at = static_cast<size_t>(i);
  int v = bits == 8 ? q[at] : q[at / 2] >> (at % 2 * 4) & 15;
  if (is_signed && v >= 1 << (bits - 1)) v -= 1 << bits;
  return v;
}

struct Options {
  int bits = 4;
  int64_t block = 32;
  bool transposed = false, is_signed = true, zeros = false, f16 = true;
};

void FillReal(Weights& w, const Options& o) {
  const NBitsLayout& l = w.layout;
  w.real.resize(static_cast<size_t>(l.k * l.n));
  for (int64_t k = 0; k < l.k; ++k)
    for (int64_t n = 0; n < l.n; ++n) {
      const NBitsSource& s = w.source;
      const int64_t at = (o.block ? k / o.block : 0) * s.scale_k + n * s.scale_n;
      const int q = ElementAt(w.q, o.bits, o.is_signed, k * s.k_stride + n * s.n_stride);
      const int zero = o.zeros ? ElementAt(w.zero, o.bits, o.is_signed, at) : 0;
      w.real[static_cast<size_t>(k * l.n + n)] =
          static_cast<double>(w.scale[static_cast<size_t>(at)]) * (q - zero);
    }
}

Weights MakeWeights(int64_t k, int64_t n, const Options& o) {
  Weights w;
  NBitsLayout& l = w.layout;
  l.k = k, l.n = n, l.bits = o.bits, l.block = o.block, l.f16_scales = o.f16, l.has_zeros = o.zeros;
  l.zero = o.is_signed ? 1 << (o.bits - 1) : 0;
  std::mt19937 random(static_cast<uint32_t>(7 * k + n));
  const auto bytes = [&](int64_t count) {
    std::vector<uint8_t> v(static_cast<size_t>((count * o.bits + 7) / 8));
    for (uint8_t& b : v) b = static_cast<uint8_t>(random());
    return v;
  };
  const int64_t blocks = l.blocks();
  w.q = bytes(k * n), w.zero = bytes(blocks * n);
  w.scale.resize(static_cast<size_t>(blocks * n));
  w.halves.resize(w.scale.size());
  for (size_t i = 0; i < w.scale.size(); ++i) {
    w.halves[i] =
        static_cast<uint16_t>(EncodeFloat(DType::kF16, 0.001 + static_cast<double>(random() % 1000) / 4e4));
    w.scale[i] = o.f16 ? HalfToFloat(w.halves[i]) : 0.001f + static_cast<float>(random() % 1000) / 4e4f;
  }
  NBitsSource& s = w.source;
  s.q = w.q.data(), s.is_signed = o.is_signed;
  s.k_stride = o.transposed ? 1 : n, s.n_stride = o.transposed ? k : 1;
  s.scale_k = o.transposed ? 1 : n, s.scale_n = o.transposed ? blocks : 1;
  s.scale = o.f16 ? static_cast<const void*>(w.halves.data()) : w.scale.data();
  s.scale_type = o.f16 ? DType::kF16 : DType::kF32;
  if (o.zeros) s.zero = w.zero.data();
  FillReal(w, o);
  return w;
}

std::vector<float> Product(const Weights& w, const std::vector<float>& a, int64_t m, const float* bias,
                           int threads) {
  const Workers workers(threads);
  const Buffer packed = Buffer::Allocate(static_cast<size_t>(w.layout.bytes()) + 64);
  PackNBits(w.layout, w.source, reinterpret_cast<uint8_t*>(packed.data()), workers);
  std::vector<float> c(static_cast<size_t>(m * w.layout.n), -7);
  NBitsProduct p;
  p.layout = w.layout;
  p.packed = reinterpret_cast<const uint8_t*>(packed.data());
  p.m = m, p.a = a.data(), p.c = c.data(), p.bias = bias;
  const Buffer scratch = Buffer::Allocate(NBitsScratch(p, threads) + 64);
  MultiplyNBits(p, scratch.data(), workers);
  return c;
}

// Compares a product with the sums of f64 products. `tolerance` is relative to the sum of magnitudes.
void Check(int64_t m, int64_t k, int64_t n, const Options& o, double tolerance = 1e-6) {
  const Weights w = MakeWeights(k, n, o);
  const std::vector<float> a = Random(m * k, 3), bias = Random(n, 4);
  const auto one = Product(w, a, m, bias.data(), 1), two = Product(w, a, m, bias.data(), 2);
  ASSERT_EQ(one, two) << "threads change the result";
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = bias[static_cast<size_t>(j)], size = std::fabs(sum);
      for (int64_t x = 0; x < k; ++x) {
        const double v =
            static_cast<double>(a[static_cast<size_t>(i * k + x)]) * w.real[static_cast<size_t>(x * n + j)];
        sum += v, size += std::fabs(v);
      }
      // Zero points cancel: the stored elements are larger than the differences that they represent.
      ASSERT_NEAR(one[static_cast<size_t>(i * n + j)], sum, tolerance * (size + 0.1))
          << m << "x" << k << "x" << n << " bits " << o.bits << " block " << o.block << " at " << i << ","
          << j;
    }
}

class NBitsLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, NBitsLevels, testing::ValuesIn(LevelsAndVnniHere()));

TEST_P(NBitsLevels, MatchesRealNumbersForAllFormsOfWeights) {
  for (int bits : {4, 8})
    for (int64_t block : {0, 16, 32, 64, 128})
      for (bool transposed : {false, true})
        for (int form = 0; form < 4; ++form) {
          Options o;
          o.bits = bits, o.block = block, o.transposed = transposed;
          o.is_signed = form % 2 == 0, o.zeros = form >= 1, o.f16 = form != 2;
          Check(1, 160, 37, o);
          Check(3, 67, 34, o);
        }
}

TEST_P(NBitsLevels, MatchesRealNumbersForRaggedShapes) {
  for (int bits : {4, 8})
    for (int64_t m : {0, 1, 2, 4, 5, 8, 9, 13, 200})
      for (int64_t k : {0, 1, 31, 32, 33, 512, 1100})
        for (int64_t n : {1, 16, 33, 95}) {
          if (m * k * n > 3000000) continue;
          Options o;
          o.bits = bits;
          Check(m, k, n, o);
        }
}

TEST_P(NBitsLevels, ExtremesOfRowsGiveTheResultOfFloats) {
  const Weights w = MakeWeights(64, 5, {});
  for (const float extreme : {std::numeric_limits<float>::infinity(), NAN, 3e38f, 1e-40f, 0.0f}) {
    std::vector<float> a(64, extreme == 1e-40f || extreme == 0 ? extreme : 0.5f);
    a[40] = extreme;
    const auto c = Product(w, a, 1, nullptr, 1);
    for (size_t j = 0; j < 5; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 64; ++k) sum += static_cast<double>(a[k]) * w.real[k * 5 + j];
      const auto want = static_cast<float>(sum);
      if (std::isfinite(want))
        EXPECT_NEAR(c[j], want, 2e-6 * std::fabs(extreme) + (std::fabs(extreme) > 1e-20f ? 1e-6 : 1e-43))
            << extreme;
      else
        EXPECT_FALSE(std::isfinite(c[j])) << extreme;
    }
  }
}

}  // namespace
}  // namespace tern::cpu
