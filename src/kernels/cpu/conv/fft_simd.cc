#include "kernels/cpu/conv/fft_simd.h"

#include "kernels/cpu/simd/magnitude-inl.h"
#include "kernels/cpu/simd/part-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int64_t lanes = kLanes<float>, kComplexSize = 2 * lanes;  // in floats

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

// The largest magnitude in each lane, as the bits of a float.
struct Largest {
  Ints re{}, im{};
  void Add(const Complex& v) { re = Larger(re, MagnitudesOf(v.re)), im = Larger(im, MagnitudesOf(v.im)); }
};

// `in` scales each lane so that its largest number is between 1 and 4. `back` undoes the scaling.
struct Scale {
  Floats in, back;
  Ints finite;

  explicit Scale(Ints most) {
    // These integers are bits of floats. kOne is one step of the exponent.
    constexpr int32_t kOne = 1 << 23, kInfinite = 255 * kOne, kNaN = kInfinite + kOne / 2;
    const Ints none{}, exponent = most & kInfinite;
    finite = exponent != kInfinite;
    // The exponent is clamped so that `in` and `back` are normal numbers.
    const Ints least = exponent > kOne ? exponent : none + kOne,
               power = least < 253 * kOne ? least : none + 253 * kOne;
    in = Floats(254 * kOne - power);
    back = Floats(finite ? (most == none ? none : power) : none + kNaN);
  }
  Floats In(Floats v) const { return Floats(Ints(v) & finite) * in; }
};
struct Scales {
  Scale re, im;
  explicit Scales(const Largest& most) : re(most.re), im(most.im) {}
  Complex In(const Complex& v) const { return {re.In(v.re), im.In(v.im)}; }
  void StoreBack(float* p) const { Store(p, {re.back, im.back}); }
};

// Multiplies by x * y, where x and y are powers of two. a * b is equal to x * y, and the exponents of a and b
// are similar. So v * a * b overflows only if the result does.
struct Back {
  Floats a, b;
  Back(Floats x, Floats y) {
    const Ints sum = (Ints(x) >> 23) + (Ints(y) >> 23), half = sum >> 1;
    a = x > 0.f ? Floats(half << 23) : x;
    b = y > 0.f ? Floats((sum - half) << 23) : y;
  }
  Floats Of(Floats v) const { return v * a * b; }
};

inline const float* FactorsOf(const float* factors, int64_t n) { return factors + 6 * (n / 4 - 1); }

// Computes a radix-4 butterfly of a transform with digit-reversed output. InverseButterfly is for the inverse
// transform. If kFactors, multiplies by twiddle factors.
template <bool kFactors> inline void Butterfly(float* p, int64_t quarter, const float* w) {
  const Complex a = Load(p), b = Load(p + quarter), c = Load(p + 2 * quarter), d = Load(p + 3 * quarter);
  const Complex s0 = a + c, s1 = a - c, s2 = b + d, s3 = TimesMinusI(b - d);
  const Complex y1 = s1 + s3, y2 = s0 - s2, y3 = s1 - s3;
  Store(p, s0 + s2);
  Store(p + quarter, kFactors ? Times(y1, w[0], w[1]) : y1);
  Store(p + 2 * quarter, kFactors ? Times(y2, w[2], w[3]) : y2);
  Store(p + 3 * quarter, kFactors ? Times(y3, w[4], w[5]) : y3);
}
template <bool kFactors> inline void InverseButterfly(float* p, int64_t quarter, const float* w) {
  const Complex y1 = Load(p + quarter), y2 = Load(p + 2 * quarter), y3 = Load(p + 3 * quarter);
  const Complex a = Load(p), b = kFactors ? Times(y1, w[0], -w[1]) : y1,
                c = kFactors ? Times(y2, w[2], -w[3]) : y2, d = kFactors ? Times(y3, w[4], -w[5]) : y3;
  const Complex s0 = a + c, s1 = a - c, s2 = b + d, s3 = TimesMinusI(d - b);
  Store(p, s0 + s2);
  Store(p + quarter, s1 + s3);
  Store(p + 2 * quarter, s0 - s2);
  Store(p + 3 * quarter, s1 - s3);
}

// Visits all butterflies of all transforms of size n. Calls plain(p, quarter, w) for butterflies whose
// twiddle factors are 1, and twiddled(p, quarter, w) for the others. `quarter` is the stride between the four
// operands, and w are the twiddle factors.
template <class Plain, class Twiddled>
inline void EachButterfly(float* p, int64_t step, int64_t length, int64_t n, const float* factors,
                          const Plain& plain, const Twiddled& twiddled) {
  const int64_t quarter = n / 4;
  const float* w = FactorsOf(factors, n);
  for (int64_t base = 0; base < length; base += n) plain(p + base * step, quarter * step, w);
  for (int64_t j = 1; j < quarter; ++j)
    for (int64_t base = 0; base < length; base += n)
      twiddled(p + (base + j) * step, quarter * step, w + 6 * j);
}

inline void Radix2(float* p, int64_t step, int64_t length) {
  for (int64_t i = 0; i < length; i += 2) {
    const Complex a = Load(p + i * step), b = Load(p + (i + 1) * step);
    Store(p + i * step, a + b);
    Store(p + (i + 1) * step, a - b);
  }
}

// Transforms one line of numbers with stride `step`, in floats. InverseLine computes the inverse.
void Line(float* p, int64_t step, int log, const float* factors) {
  const int64_t length = int64_t{1} << log;
  int64_t n = length;
  for (; n >= 4; n /= 4) EachButterfly(p, step, length, n, factors, Butterfly<false>, Butterfly<true>);
  if (n == 2) Radix2(p, step, length);
}
void InverseLine(float* p, int64_t step, int log, const float* factors) {
  const int64_t length = int64_t{1} << log;
  int64_t n = 4;
  if (log % 2 != 0) Radix2(p, step, length), n = 8;
  for (; n <= length; n *= 4)
    EachButterfly(p, step, length, n, factors, InverseButterfly<false>, InverseButterfly<true>);
}

void Forward(const FftTile& t, int64_t first, int64_t last) {
  for (int64_t r = first; r < last; ++r) Line(t.z + r * t.row_step, kComplexSize, t.columns_log, t.factors);
  if (t.rows_log == 0) return;
  for (int64_t c = 0; c < int64_t{1} << t.columns_log; ++c)
    Line(t.z + c * kComplexSize, t.row_step, t.rows_log, t.factors);
}

inline void Zeros(float* p, int64_t numbers) {
  for (int64_t i = 0; i < numbers; ++i) Store(p + i * kComplexSize, Complex{});
}

void Input(const FftTile& t, const FftInput& in) {
  const int64_t rows = int64_t{1} << t.rows_log, columns = int64_t{1} << t.columns_log;
  // Returns the position in the tile of row or column `index` of the image, clamped to the tile.
  const auto in_tile = [](int64_t first, int64_t index, int64_t size) {
    return MaxOf<int64_t>(0, MinOf(index - first, size));
  };
  const int64_t top = in_tile(in.first_row, 0, rows), bottom = in_tile(in.first_row, in.height, rows);
  const int64_t left = in_tile(in.first_column, 0, columns),
                right = in_tile(in.first_column, in.width, columns);
  const int64_t a = MinOf(in.count, lanes), b = in.count - a;
  const auto part = [a, b](const float* p) {
    return Complex{LoadPart(p, a), b > 0 ? LoadPart(p + lanes, b) : Floats{}};
  };
  // Calls use(pixel) for the pixels of row r of the tile that are inside the image: columns [left, right) of
  // the tile.
  const auto each_pixel = [&](int64_t r, const auto& use) {
    const float* from = in.x + (in.first_row + r) * in.row + (in.first_column + left) * in.pixel;
    if (b == lanes)
      for (int64_t c = left; c < right; ++c, from += in.pixel) use(Load(from));
    else
      for (int64_t c = left; c < right; ++c, from += in.pixel) use(part(from));
  };
  Largest largest;
  for (int64_t r = top; r < bottom; ++r) each_pixel(r, [&](const Complex& v) { largest.Add(v); });
  const Scales scales(largest);
  scales.StoreBack(in.back);
  for (int64_t r = 0; r < rows; ++r) {
    float* to = t.z + r * t.row_step;
    if (r < top || r >= bottom || left >= right) {
      Zeros(to, columns);
      continue;
    }
    Zeros(to, left);
    to += left * kComplexSize;
    each_pixel(r, [&](const Complex& v) { Store(to, scales.In(v)), to += kComplexSize; });
    Zeros(to, columns - right);
  }
  Forward(t, top, MaxOf(top, bottom));
}

// z is the transform at a frequency, and mirror is the transform at the conjugate frequency. Split sets a to
// twice the spectrum of the real part, and b to twice the spectrum of the imaginary part. Merge computes z
// and mirror from the spectra a and b.
inline void Split(const Complex& z, const Complex& mirror, Complex& a, Complex& b) {
  a = {z.re + mirror.re, z.im - mirror.im};
  b = {z.im + mirror.im, mirror.re - z.re};
}
inline void Merge(float* z, float* mirror, const Complex& a, const Complex& b) {
  Store(z, {a.re - b.im, a.im + b.re});
  Store(mirror, {a.re + b.im, b.re - a.im});
}

void Separate(const FftTile& t, const FftSpectra& to) {
  const int64_t first = MinOf(to.count, lanes), second = to.count - first;
  const Complex back = Load(to.back);
  for (int64_t i = 0; i < t.frequencies; ++i) {
    Complex a, b;
    Split(Load(t.z + t.pairs[2 * i]), Load(t.z + t.pairs[2 * i + 1]), a, b);
    const int64_t at = i * to.step;
    a = {a.re * to.re_factor * back.re, a.im * to.im_factor * back.re};
    StorePart(to.re + at, a.re, first);
    StorePart(to.im + at, a.im, first);
    if (to.minus) StorePart(to.minus + at, -a.im, first);
    if (second == 0) continue;
    b = {b.re * to.re_factor * back.im, b.im * to.im_factor * back.im};
    StorePart(to.re + at + lanes, b.re, second);
    StorePart(to.im + at + lanes, b.im, second);
    if (to.minus) StorePart(to.minus + at + lanes, -b.im, second);
  }
}

void Join(const FftTile& t, const FftSpectra& from) {
  const int64_t first = MinOf(from.count, lanes), second = from.count - first;
  const auto load = [&](int64_t i, Complex& a, Complex& b) {
    const int64_t at = i * from.step;
    a = {LoadPart(from.re + at, first), LoadPart(from.im + at, first)};
    if (second > 0) b = {LoadPart(from.re + at + lanes, second), LoadPart(from.im + at + lanes, second)};
  };
  Complex a{}, b{};
  Largest largest;
  for (int64_t i = 0; i < t.frequencies; ++i) {
    load(i, a, b);
    largest.Add({a.re, b.re});
    largest.Add({a.im, b.im});
  }
  const Scales scales(largest);
  scales.StoreBack(from.back);
  for (int64_t i = 0; i < t.frequencies; ++i) {
    load(i, a, b);
    Merge(t.z + t.pairs[2 * i], t.z + t.pairs[2 * i + 1], {scales.re.In(a.re), scales.re.In(a.im)},
          {scales.im.In(b.re), scales.im.In(b.im)});
  }
}

void Multiply(const FftTile& t, const float* w) {
  for (int64_t i = 0; i < t.frequencies; ++i, w += 2 * kComplexSize) {
    float *z = t.z + t.pairs[2 * i], *mirror = t.z + t.pairs[2 * i + 1];
    Complex a, b;
    Split(Load(z), Load(mirror), a, b);
    const Complex u = Load(w), v = Load(w + kComplexSize);
    Merge(z, mirror, {a.re * u.re - a.im * u.im, a.im * u.re + a.re * u.im},
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
      InverseLine(t.z + c * kComplexSize, t.row_step, t.rows_log, t.factors);
  const int64_t first = MinOf(out.count, lanes), second = out.count - first;
  const Complex back = Load(out.back), kernel = Load(out.kernel_back);
  const Back re(back.re, kernel.re), im(back.im, kernel.im);
  for (int64_t r = 0; r < out.rows; ++r) {
    float* z = t.z + r * t.row_step;
    InverseLine(z, kComplexSize, t.columns_log, t.factors);
    for (int64_t c = 0; c < out.columns; ++c) {
      const int64_t at = r * out.row_step + c * out.pixel_step;
      const Complex v = Load(z + c * kComplexSize);
      StorePart(out.y + at, Finished(out, re.Of(v.re), at, 0, first), first);
      if (second > 0) StorePart(out.y + at + lanes, Finished(out, im.Of(v.im), at, lanes, second), second);
    }
  }
}

}  // namespace

const FftTable kFftSimd = {static_cast<int>(lanes), Forward, Input, Separate, Join, Multiply, Output};

}  // namespace tern::cpu::TERN_SIMD
