#include <cmath>
#include <numbers>

#include "data/audio/fft.h"

namespace tern::data {
namespace {

using C = ComplexLanes;

// Computes X from Z; see RealFft::Forward.
TERN_AUDIO_CLONES void Separate(const C* z, int64_t half, const double* cos, const double* sin, C* out) {
  for (int64_t k = 0; k <= half; ++k) {
    const C &a = z[k == half ? 0 : k], &b = z[k == 0 ? 0 : half - k];
    const Lanes even_re = (a.re + b.re) * 0.5, even_im = (a.im - b.im) * 0.5;
    const Lanes odd_re = (a.im + b.im) * 0.5, odd_im = (b.re - a.re) * 0.5;
    out[k].re = even_re + odd_re * cos[k] + odd_im * sin[k];
    out[k].im = even_im + odd_im * cos[k] - odd_re * sin[k];
  }
}

}  // namespace

RealFft::RealFft(int64_t n) : n_(n), even_(n % 2 == 0), fft_(even_ ? n / 2 : n) {
  for (int64_t k = 0; k < bins(); ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    cos_.push_back(std::cos(angle));
    sin_.push_back(std::sin(angle));
  }
}

int64_t RealFft::scratch() const { return n_ + fft_.scratch(); }

// For an even n, z[j] = x[2j] + i x[2j + 1] has the spectrum Z = E + iO, where E and O are the spectra of the
// even and the odd samples. Symmetry separates them, and X[k] = E[k] + exp(-2 pi i k / n) O[k].
void RealFft::Forward(const Lanes* in, C* out, C* scratch) const {
  C *z = scratch, *rest = scratch + n_;
  if (!even_) {
    for (int64_t j = 0; j < n_; ++j) z[j] = {in[j], Lanes{}};
    fft_.Forward(z, rest);
    for (int64_t k = 0; k < bins(); ++k) out[k] = z[k];
    return;
  }
  const int64_t half = n_ / 2;
  for (int64_t j = 0; j < half; ++j) z[j] = {in[2 * j], in[2 * j + 1]};
  fft_.Forward(z, rest);
  Separate(z, half, cos_.data(), sin_.data(), out);
}

void RealFft::Inverse(const C* in, Lanes* out, C* scratch) const {
  C *z = scratch, *rest = scratch + n_;
  const double scale = 1.0 / static_cast<double>(n_);
  if (!even_) {
    z[0] = {in[0].re, Lanes{}};
    for (int64_t k = 1; k < bins(); ++k) {
      z[k] = {in[k].re, -in[k].im};
      z[n_ - k] = in[k];
    }
    fft_.Forward(z, rest);
    for (int64_t j = 0; j < n_; ++j) out[j] = z[j].re * scale;
    return;
  }
  const int64_t half = n_ / 2;
  for (int64_t k = 0; k < half; ++k) {
    C a = in[k], b = in[half - k];
    if (k == 0) a.im = b.im = Lanes{};
    const double c = cos_[static_cast<size_t>(k)], s = sin_[static_cast<size_t>(k)];
    const Lanes even_re = a.re + b.re, even_im = a.im - b.im;
    const Lanes x = a.re - b.re, y = a.im + b.im;
    const Lanes odd_re = x * c - y * s, odd_im = x * s + y * c;
    z[k] = {even_re - odd_im, -(even_im + odd_re)};  // the conjugate, so that Forward inverts
  }
  fft_.Forward(z, rest);
  for (int64_t j = 0; j < half; ++j) {
    out[2 * j] = z[j].re * scale;
    out[2 * j + 1] = z[j].im * -scale;
  }
}

}  // namespace tern::data
