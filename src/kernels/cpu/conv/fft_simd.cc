#include "kernels/cpu/conv/fft_simd.h"

#include "kernels/cpu/simd/part-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int64_t lanes = kLanes<float>, kNumber = 2 * lanes;

struct Complex {
  Floats re, im;
};
inline Complex Load(const float* p) { return {LoadVector(p), LoadVector(p + lanes)}; }
inline void Store(float* p, const Complex& v) {
  StoreVector(p, v.re);
  StoreVector(p + lanes, v.im);
}
inline Complex operator+(const Complex& a, const Complex& b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(const Complex& a, const Complex& b) { return {a.re - b.re, a.im - b.im}; }
inline Complex Times(const Complex& a, float re, float im) {
  return {a.re * re - a.im * im, a.im * re + a.re * im};
}
inline Complex TimesMinusI(const Complex& a) { return {a.im, -a.re}; }

inline const float* FactorsOf(const float* factors, int64_t n) { return factors + 6 * (n / 4 - 1); }

// One size of a transform that ends in digits reversed; of its inverse, which starts with them.
template <bool kFactors> inline void Part(float* p, int64_t quarter, const float* w) {
  const Complex a = Load(p), b = Load(p + quarter), c = Load(p + 2 * quarter), d = Load(p + 3 * quarter);
  const Complex s0 = a + c, s1 = a - c, s2 = b + d, s3 = TimesMinusI(b - d);
  const Complex y1 = s1 + s3, y2 = s0 - s2, y3 = s1 - s3;
  Store(p, s0 + s2);
  Store(p + quarter, kFactors ? Times(y1, w[0], w[1]) : y1);
  Store(p + 2 * quarter, kFactors ? Times(y2, w[2], w[3]) : y2);
  Store(p + 3 * quarter, kFactors ? Times(y3, w[4], w[5]) : y3);
}
template <bool kFactors> inline void PartBack(float* p, int64_t quarter, const float* w) {
  const Complex y1 = Load(p + quarter), y2 = Load(p + 2 * quarter), y3 = Load(p + 3 * quarter);
  const Complex a = Load(p), b = kFactors ? Times(y1, w[0], -w[1]) : y1,
                c = kFactors ? Times(y2, w[2], -w[3]) : y2, d = kFactors ? Times(y3, w[4], -w[5]) : y3;
  const Complex s0 = a + c, s1 = a - c, s2 = b + d, s3 = TimesMinusI(d - b);
  Store(p, s0 + s2);
  Store(p + quarter, s1 + s3);
  Store(p + 2 * quarter, s0 - s2);
  Store(p + 3 * quarter, s1 - s3);
}

// part(pointer, quarter's step, factors) of all parts of size n.
template <class First, class Rest>
inline void EachPart(float* p, int64_t step, int64_t length, int64_t n, const float* factors,
                     const First& first, const Rest& rest) {
  const int64_t quarter = n / 4;
  const float* w = FactorsOf(factors, n);
  for (int64_t base = 0; base < length; base += n) first(p + base * step, quarter * step, w);
  for (int64_t j = 1; j < quarter; ++j)
    for (int64_t base = 0; base < length; base += n) rest(p + (base + j) * step, quarter * step, w + 6 * j);
}

inline void Pairs(float* p, int64_t step, int64_t length) {
  for (int64_t i = 0; i < length; i += 2) {
    const Complex a = Load(p + i * step), b = Load(p + (i + 1) * step);
    Store(p + i * step, a + b);
    Store(p + (i + 1) * step, a - b);
  }
}

// Numbers are `step` floats apart.
void Line(float* p, int64_t step, int log, const float* factors) {
  const int64_t length = int64_t{1} << log;
  int64_t n = length;
  for (; n >= 4; n /= 4) EachPart(p, step, length, n, factors, Part<false>, Part<true>);
  if (n == 2) Pairs(p, step, length);
}
void LineBack(float* p, int64_t step, int log, const float* factors) {
  const int64_t length = int64_t{1} << log;
  int64_t n = 4;
  if (log % 2 != 0) Pairs(p, step, length), n = 8;
  for (; n <= length; n *= 4) EachPart(p, step, length, n, factors, PartBack<false>, PartBack<true>);
}

void Forward(const FftTile& t, int64_t first, int64_t last) {
  for (int64_t r = first; r < last; ++r) Line(t.z + r * t.row_step, kNumber, t.columns_log, t.factors);
  if (t.rows_log == 0) return;
  for (int64_t c = 0; c < int64_t{1} << t.columns_log; ++c)
    Line(t.z + c * kNumber, t.row_step, t.rows_log, t.factors);
}

inline void Zeros(float* p, int64_t numbers) {
  for (int64_t i = 0; i < numbers; ++i) Store(p + i * kNumber, Complex{});
}

void Input(const FftTile& t, const FftInput& in) {
  const int64_t rows = int64_t{1} << t.rows_log, columns = int64_t{1} << t.columns_log;
  const auto inside = [](int64_t at, int64_t size, int64_t most) {
    return Greatest<int64_t>(0, Least(size - at, most));
  };
  const int64_t top = inside(in.first_row, 0, rows), bottom = inside(in.first_row, in.height, rows);
  const int64_t left = inside(in.first_column, 0, columns),
                right = inside(in.first_column, in.width, columns);
  const int64_t a = Least(in.count, lanes), b = in.count - a;
  for (int64_t r = 0; r < rows; ++r) {
    float* to = t.z + r * t.row_step;
    if (r < top || r >= bottom || left >= right) {
      Zeros(to, columns);
      continue;
    }
    const float* from = in.x + (in.first_row + r) * in.row + (in.first_column + left) * in.pixel;
    Zeros(to, left);
    to += left * kNumber;
    if (b == lanes)
      for (int64_t c = left; c < right; ++c, from += in.pixel, to += kNumber) Store(to, Load(from));
    else
      for (int64_t c = left; c < right; ++c, from += in.pixel, to += kNumber)
        Store(to, {LoadPart(from, a), b > 0 ? LoadPart(from + lanes, b) : Floats{}});
    Zeros(to, columns - right);
  }
  Forward(t, top, Greatest(top, bottom));
}

// Twice the spectra of the real and the imaginary parts, from those of a frequency and its mirror image.
inline void Split(const Complex& z, const Complex& mirror, Complex& a, Complex& b) {
  a = {z.re + mirror.re, z.im - mirror.im};
  b = {z.im + mirror.im, mirror.re - z.re};
}
inline void Unite(float* z, float* mirror, const Complex& a, const Complex& b) {
  Store(z, {a.re - b.im, a.im + b.re});
  Store(mirror, {a.re + b.im, b.re - a.im});
}

void Separate(const FftTile& t, const FftSpectra& to) {
  const int64_t first = Least(to.count, lanes), second = to.count - first;
  for (int64_t i = 0; i < t.frequencies; ++i) {
    Complex a, b;
    Split(Load(t.z + t.pairs[2 * i]), Load(t.z + t.pairs[2 * i + 1]), a, b);
    const int64_t at = i * to.step;
    StorePart(to.re + at, a.re * to.re_factor, first);
    StorePart(to.im + at, a.im * to.im_factor, first);
    if (to.minus) StorePart(to.minus + at, -a.im, first);
    if (second == 0) continue;
    StorePart(to.re + at + lanes, b.re * to.re_factor, second);
    StorePart(to.im + at + lanes, b.im * to.im_factor, second);
    if (to.minus) StorePart(to.minus + at + lanes, -b.im, second);
  }
}

void Join(const FftTile& t, const FftSpectra& from) {
  const int64_t first = Least(from.count, lanes), second = from.count - first;
  for (int64_t i = 0; i < t.frequencies; ++i) {
    const int64_t at = i * from.step;
    const Complex a = {LoadPart(from.re + at, first), LoadPart(from.im + at, first)};
    Complex b{};
    if (second > 0) b = {LoadPart(from.re + at + lanes, second), LoadPart(from.im + at + lanes, second)};
    Unite(t.z + t.pairs[2 * i], t.z + t.pairs[2 * i + 1], a, b);
  }
}

void Multiply(const FftTile& t, const float* w) {
  for (int64_t i = 0; i < t.frequencies; ++i, w += 2 * kNumber) {
    float *z = t.z + t.pairs[2 * i], *mirror = t.z + t.pairs[2 * i + 1];
    Complex a, b;
    Split(Load(z), Load(mirror), a, b);
    const Complex u = Load(w), v = Load(w + kNumber);
    Unite(z, mirror, {a.re * u.re - a.im * u.im, a.im * u.re + a.re * u.im},
          {b.re * v.re - b.im * v.im, b.im * v.re + b.re * v.im});
  }
}

inline Floats Finished(const FftOutput& out, Floats v, int64_t at, int64_t channel, int64_t count) {
  if (out.bias) v += LoadPart(out.bias + channel, count);
  if (out.residual) v += LoadPart(out.residual + at + channel, count);
  return out.clip ? AtMost(AtLeast(v, out.low), out.high) : v;
}

void Output(const FftTile& t, const FftOutput& out) {
  if (t.rows_log > 0)
    for (int64_t c = 0; c < int64_t{1} << t.columns_log; ++c)
      LineBack(t.z + c * kNumber, t.row_step, t.rows_log, t.factors);
  const int64_t first = Least(out.count, lanes), second = out.count - first;
  for (int64_t r = 0; r < out.rows; ++r) {
    float* z = t.z + r * t.row_step;
    LineBack(z, kNumber, t.columns_log, t.factors);
    for (int64_t c = 0; c < out.columns; ++c) {
      const int64_t at = r * out.row_step + c * out.pixel_step;
      const Complex v = Load(z + c * kNumber);
      StorePart(out.y + at, Finished(out, v.re, at, 0, first), first);
      if (second > 0) StorePart(out.y + at + lanes, Finished(out, v.im, at, lanes, second), second);
    }
  }
}

}  // namespace

const FftTable kFftSimd = {static_cast<int>(lanes), Forward, Input, Separate, Join, Multiply, Output};

}  // namespace tern::cpu::TERN_SIMD
