#include "ops/signal/fourier.h"

#include <numbers>

namespace tern {
namespace {

using Complex = std::complex<double>;

// Computes the transform if the length of x is a power of two.
void Radix2(std::vector<Complex>& x, bool inverse) {
  const size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (size_t half = 1; half < n; half *= 2) {
    const double angle = (inverse ? 1 : -1) * std::numbers::pi / static_cast<double>(half);
    std::vector<Complex> twiddle(half);
    for (size_t k = 0; k < half; ++k) twiddle[k] = std::polar(1.0, angle * static_cast<double>(k));
    for (size_t block = 0; block < n; block += 2 * half)
      for (size_t k = 0; k < half; ++k) {
        const Complex even = x[block + k], odd = x[block + k + half] * twiddle[k];
        x[block + k] = even + odd;
        x[block + k + half] = even - odd;
      }
  }
}

// Computes the transform for any length by Bluestein's algorithm. The identity kn = (k² + n² - (k-n)²) / 2
// converts the transform into a convolution, which is computed by transforms of length m, a power of two.
void Chirp(std::vector<Complex>& x, bool inverse) {
  const size_t n = x.size();
  size_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  std::vector<Complex> chirp(n), a(m), b(m);
  for (size_t k = 0; k < n; ++k) {
    const auto square =
        static_cast<double>(k * k % (2 * n));  // k² is reduced modulo the period, so that the angle is exact
    chirp[k] = std::polar(1.0, (inverse ? 1 : -1) * std::numbers::pi * square / static_cast<double>(n));
    a[k] = x[k] * chirp[k];
    b[k] = std::conj(chirp[k]);
    if (k) b[m - k] = b[k];
  }
  Radix2(a, false);
  Radix2(b, false);
  for (size_t k = 0; k < m; ++k) a[k] *= b[k];
  Radix2(a, true);
  for (size_t k = 0; k < n; ++k) x[k] = a[k] * chirp[k] / static_cast<double>(m);
}

}  // namespace

void Fourier(std::vector<std::complex<double>>& x, bool inverse) {
  const size_t n = x.size();
  if (n < 2) return;
  if ((n & (n - 1)) == 0)
    Radix2(x, inverse);
  else
    Chirp(x, inverse);
}

}  // namespace tern
