#include "data/audio/fft.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace tern::data {
namespace {

constexpr int64_t kMaxRadix = 31;

// Returns exp(-2 pi i * numerator / denominator).
std::pair<double, double> Root(int64_t numerator, int64_t denominator) {
  const double angle =
      -2 * std::numbers::pi * static_cast<double>(numerator % denominator) / static_cast<double>(denominator);
  return {std::cos(angle), std::sin(angle)};
}

std::vector<int64_t> Factors(int64_t n) {
  std::vector<int64_t> out;
  while (n % 4 == 0) {
    out.push_back(4);
    n /= 4;
  }
  for (int64_t p = 2; n > 1; ++p) {
    if (p * p > n) p = n;
    for (; n % p == 0; n /= p) out.push_back(p);
  }
  return out;
}

using C = ComplexLanes;

// Writes a * w to `out`.
template <class W> [[gnu::always_inline]] inline void Multiply(const C& a, const W& w, C& out) {
  const Lanes re = a.re * w.re - a.im * w.im;
  out.im = a.re * w.im + a.im * w.re;
  out.re = re;
}

[[gnu::always_inline]] inline void AddSubtract(const C& a, const C& b, C& sum, C& difference) {
  const Lanes re = a.re - b.re, im = a.im - b.im;
  sum.re = a.re + b.re;
  sum.im = a.im + b.im;
  difference.re = re;
  difference.im = im;
}

template <int R> void Butterfly(C (&a)[R]);

template <> [[gnu::always_inline]] inline void Butterfly<2>(C (&a)[2]) {
  AddSubtract(a[0], a[1], a[0], a[1]);
}

template <> [[gnu::always_inline]] inline void Butterfly<3>(C (&a)[3]) {
  constexpr double kSin = 0.86602540378443864676;
  C sum, difference;
  AddSubtract(a[1], a[2], sum, difference);
  const Lanes re = a[0].re - sum.re * 0.5, im = a[0].im - sum.im * 0.5;
  a[0].re += sum.re;
  a[0].im += sum.im;
  a[1].re = re + difference.im * kSin;
  a[1].im = im - difference.re * kSin;
  a[2].re = re - difference.im * kSin;
  a[2].im = im + difference.re * kSin;
}

template <> [[gnu::always_inline]] inline void Butterfly<4>(C (&a)[4]) {
  C s02, d02, s13, d13;
  AddSubtract(a[0], a[2], s02, d02);
  AddSubtract(a[1], a[3], s13, d13);
  AddSubtract(s02, s13, a[0], a[2]);
  a[1].re = d02.re + d13.im;
  a[1].im = d02.im - d13.re;
  a[3].re = d02.re - d13.im;
  a[3].im = d02.im + d13.re;
}

template <> [[gnu::always_inline]] inline void Butterfly<5>(C (&a)[5]) {
  constexpr double kC1 = 0.30901699437494742410, kC2 = -0.80901699437494742410;
  constexpr double kS1 = 0.95105651629515357212, kS2 = 0.58778525229247312917;
  C s14, d14, s23, d23;
  AddSubtract(a[1], a[4], s14, d14);
  AddSubtract(a[2], a[3], s23, d23);
  const Lanes re1 = a[0].re + s14.re * kC1 + s23.re * kC2, im1 = a[0].im + s14.im * kC1 + s23.im * kC2;
  const Lanes re2 = a[0].re + s14.re * kC2 + s23.re * kC1, im2 = a[0].im + s14.im * kC2 + s23.im * kC1;
  const Lanes x1 = d14.im * kS1 + d23.im * kS2, y1 = d14.re * kS1 + d23.re * kS2;
  const Lanes x2 = d14.im * kS2 - d23.im * kS1, y2 = d14.re * kS2 - d23.re * kS1;
  a[0].re += s14.re + s23.re;
  a[0].im += s14.im + s23.im;
  a[1] = {re1 + x1, im1 - y1};
  a[4] = {re1 - x1, im1 + y1};
  a[2] = {re2 + x2, im2 - y2};
  a[3] = {re2 - x2, im2 + y2};
}

}  // namespace

Fft::Fft(int64_t n) : n_(n) {
  if (n == 1) return;
  const std::vector<int64_t> factors = Factors(n);
  if (factors.back() > kMaxRadix)
    PlanBluestein();
  else
    PlanPasses();
}

void Fft::PlanPasses() {
  int64_t length = n_, stride = 1;
  for (const int64_t radix : Factors(n_)) {
    Pass pass{radix, stride, length / radix, {}, {}};
    for (int64_t k = 0; k < pass.groups; ++k)
      for (int64_t r = 0; r < radix; ++r) {
        const auto [re, im] = Root(k * r, length);
        pass.twiddles.push_back({re, im});
      }
    for (int64_t r = 0; r < radix && radix > 5; ++r) {
      const auto [re, im] = Root(r, radix);
      pass.roots.push_back({re, im});
    }
    passes_.push_back(std::move(pass));
    length /= radix;
    stride *= radix;
  }
}

// One pass of a decimation in frequency. The output is in natural order after the last pass.
template <int R> [[gnu::always_inline]] inline void Fft::RunPass(const Pass& pass, const C* in, C* out) {
  const int64_t s = pass.stride, m = pass.groups;
  for (int64_t k = 0; k < m; ++k) {
    const Complex* w = pass.twiddles.data() + k * R;
    for (int64_t q = 0; q < s; ++q) {
      C a[R];
      for (int r = 0; r < R; ++r) a[r] = in[q + s * (k + m * r)];
      Butterfly<R>(a);
      C* to = out + q + s * R * k;
      to[0] = a[0];
      for (int r = 1; r < R; ++r) Multiply(a[r], w[r], to[s * r]);
    }
  }
}

[[gnu::always_inline]] inline void Fft::RunGeneric(const Pass& pass, const C* in, C* out) {
  const int64_t s = pass.stride, m = pass.groups, radix = pass.radix;
  for (int64_t k = 0; k < m; ++k)
    for (int64_t q = 0; q < s; ++q)
      for (int64_t r = 0; r < radix; ++r) {
        C sum = in[q + s * k];
        for (int64_t j = 1; j < radix; ++j) {
          C term;
          Multiply(in[q + s * (k + m * j)], pass.roots[static_cast<size_t>(j * r % radix)], term);
          sum.re += term.re;
          sum.im += term.im;
        }
        Multiply(sum, pass.twiddles[static_cast<size_t>(k * radix + r)], out[q + s * (radix * k + r)]);
      }
}

int64_t Fft::scratch() const { return inner_ ? inner_->n_ + inner_->scratch() : n_; }

TERN_AUDIO_CLONES void Fft::RunPasses(const Pass* begin, const Pass* end, C* from, C* to) {
  for (const Pass* pass = begin; pass != end; ++pass) {
    switch (pass->radix) {
      case 2:
        RunPass<2>(*pass, from, to);
        break;
      case 3:
        RunPass<3>(*pass, from, to);
        break;
      case 4:
        RunPass<4>(*pass, from, to);
        break;
      case 5:
        RunPass<5>(*pass, from, to);
        break;
      default:
        RunGeneric(*pass, from, to);
    }
    C* const next = from;
    from = to;
    to = next;
  }
}

void Fft::Forward(C* data, C* scratch) const {
  if (inner_) return Bluestein(data, scratch);
  RunPasses(passes_.data(), passes_.data() + passes_.size(), data, scratch);
  if (passes_.size() % 2 == 1)
    for (int64_t i = 0; i < n_; ++i) data[i] = scratch[i];
}

// Bluestein: jk = (j^2 + k^2 - (k - j)^2) / 2, which makes the transform a convolution with a chirp. A longer
// transform, whose length is a power of two, computes the convolution.
void Fft::PlanBluestein() {
  int64_t length = 1;
  while (length < 2 * n_ - 1) length *= 2;
  inner_ = std::make_unique<Fft>(length);
  ComplexBuffer kernel(static_cast<size_t>(length)), scratch(static_cast<size_t>(inner_->scratch()));
  for (int64_t j = 0; j < n_; ++j) {
    const auto [re, im] = Root(j * j % (2 * n_), 2 * n_);
    chirp_.push_back({re, im});
    C& a = kernel[static_cast<size_t>(j)];
    a.re[0] = re;
    a.im[0] = -im;
    if (j > 0) kernel[static_cast<size_t>(length - j)] = a;
  }
  inner_->Forward(kernel.data(), scratch.data());
  const double scale = 1.0 / static_cast<double>(length);
  for (const C& a : kernel) spectrum_.push_back({a.re[0] * scale, a.im[0] * scale});
}

void Fft::Bluestein(C* data, C* scratch) const {
  C *work = scratch, *rest = scratch + inner_->n_;
  for (int64_t j = 0; j < n_; ++j) Multiply(data[j], chirp_[static_cast<size_t>(j)], work[j]);
  for (int64_t j = n_; j < inner_->n_; ++j) work[j] = C{};
  inner_->Forward(work, rest);
  for (int64_t j = 0; j < inner_->n_; ++j) {
    Multiply(work[j], spectrum_[static_cast<size_t>(j)], work[j]);
    work[j].im = -work[j].im;  // inverse(x) = conj(transform(conj(x)))
  }
  inner_->Forward(work, rest);
  for (int64_t k = 0; k < n_; ++k) {
    work[k].im = -work[k].im;
    Multiply(work[k], chirp_[static_cast<size_t>(k)], data[k]);
  }
}

}  // namespace tern::data
