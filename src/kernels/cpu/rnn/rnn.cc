#include "kernels/cpu/rnn/rnn.h"

#include <algorithm>

#include "kernels/cpu/elementwise/elementwise_simd.h"

namespace tern::cpu {
namespace {

int64_t Rounded(int64_t n) { return (n + 15) / 16 * 16; }

// y [rows, columns] = x [rows, inner] · weightsᵀ, weights [columns, inner].
GemmParams Product(int64_t rows, int64_t columns, int64_t inner) {
  GemmParams p;
  p.m = rows, p.n = columns, p.k = inner;
  p.a = {nullptr, DType::kF32, inner, 1};
  p.b = {nullptr, DType::kF32, 1, inner};
  p.c_row = columns;
  return p;
}

// One direction of a layer.
class Direction {
 public:
  Direction(const RnnShape& s, const RnnTensors& t, int64_t d, float* scratch, const Workers& workers)
      : s_(s), t_(t), d_(d), width_(s.gates() * s.hidden), workers_(workers) {
    from_x_ = Take(scratch, s.length * s.batch * width_);
    from_h_ = Take(scratch, s.batch * width_);
    h_ = Take(scratch, s.batch * s.hidden);
    c_ = Take(scratch, s.batch * s.hidden);
    gated_ = Take(scratch, s.batch * s.hidden);
    gemm_ = scratch;
    w_ = t.w + d * width_ * s.features;
    r_ = t.r + d * width_ * s.hidden;
    b_ = t.b ? t.b + d * 2 * width_ : nullptr;
    p_ = t.p ? t.p + d * 3 * s.hidden : nullptr;
    functions_ = s.functions.data() +
                 static_cast<size_t>(d) * (s.functions.size() / static_cast<size_t>(s.directions));
  }

  void Run() {
    const int64_t state = s_.batch * s_.hidden;
    Start(t_.h0, h_), Start(t_.c0, c_);
    Multiply(t_.x, w_, s_.length * s_.batch, width_, s_.features, b_, from_x_);
    for (int64_t step = 0; step < s_.length; ++step) Step(step);
    if (t_.y_h) std::copy(h_, h_ + state, t_.y_h + d_ * state);
    if (t_.y_c) std::copy(c_, c_ + state, t_.y_c + d_ * state);
  }

 private:
  static float* Take(float*& at, int64_t n) {
    float* mine = at;
    at += Rounded(n);
    return mine;
  }
  void Start(const float* given, float* state) const {
    const int64_t n = s_.batch * s_.hidden;
    if (given)
      std::copy(given + d_ * n, given + (d_ + 1) * n, state);
    else
      std::fill(state, state + n, 0.f);
  }
  void Multiply(const float* x, const float* weights, int64_t rows, int64_t columns, int64_t inner,
                const float* bias, float* y) const {
    GemmParams p = Product(rows, columns, inner);
    p.a.data = x, p.b.data = weights, p.c = y, p.column_bias = bias;
    Gemm(p, gemm_, workers_);
  }
  int64_t LengthOf(int64_t n) const {
    if (!t_.lengths) return s_.length;
    return t_.wide_lengths ? static_cast<const int64_t*>(t_.lengths)[n]
                           : static_cast<const int32_t*>(t_.lengths)[n];
  }
  void Apply(size_t function, float* v) const {
    if (s_.clip > 0)
      for (int64_t i = 0; i < s_.hidden; ++i) v[i] = std::clamp(v[i], -s_.clip, s_.clip);
    ApplyFreely(function, v, v);
  }
  void ApplyFreely(size_t function, const float* x, float* y) const {
    const RnnFunction& f = functions_[function];
    UnarySimd().f32(f.kind, x, y, s_.hidden, f.alpha, f.beta);
  }

  void Step(int64_t step) {
    const bool gru = s_.kind == RnnCellKind::kGru, late = gru && !s_.linear_before_reset;
    // A GRU's candidate waits for the reset gate.
    Multiply(h_, r_, s_.batch, late ? 2 * s_.hidden : width_, s_.hidden, b_ ? b_ + width_ : nullptr, from_h_);
    const int64_t stride = late ? 2 * s_.hidden : width_;
    for (int64_t n = 0; n < s_.batch; ++n) {
      if (step >= LengthOf(n)) continue;
      float* x = from_x_ + RowOf(step, n) * width_;
      const float* h = from_h_ + n * stride;
      if (gru)
        GruGates(x, h, n);
      else
        for (int64_t i = 0; i < width_; ++i) x[i] += h[i];
    }
    if (late)
      Multiply(gated_, r_ + 2 * s_.hidden * s_.hidden, s_.batch, s_.hidden, s_.hidden,
               b_ ? b_ + width_ + 2 * s_.hidden : nullptr, from_h_);
    for (int64_t n = 0; n < s_.batch; ++n) Finish(step, n, late);
  }

  // Which row of the sequence sample n reads in this step.
  int64_t RowOf(int64_t step, int64_t n) const {
    const bool backward = d_ == 1 || s_.reverse;
    return (backward ? LengthOf(n) - 1 - step : step) * s_.batch + n;
  }

  void Finish(int64_t step, int64_t n, bool late) {
    if (step >= LengthOf(n)) {
      // Steps beyond a sample's end show zeros; with every step one row, `step` is among them.
      float* y = t_.y ? t_.y + ((step * s_.directions + d_) * s_.batch + n) * s_.hidden : nullptr;
      if (y) std::fill(y, y + s_.hidden, 0.f);
      return;
    }
    const int64_t row = RowOf(step, n);
    float *x = from_x_ + row * width_, *h = h_ + n * s_.hidden;
    if (s_.kind == RnnCellKind::kRnn) {
      Apply(0, x);
      std::copy(x, x + s_.hidden, h);
    } else if (s_.kind == RnnCellKind::kGru) {
      GruState(x, late ? from_h_ + n * s_.hidden : from_h_ + n * width_ + 2 * s_.hidden, late, h);
    } else {
      Lstm(x, h, c_ + n * s_.hidden);
    }
    if (!t_.y) return;
    const int64_t time = row / s_.batch;
    std::copy(h, h + s_.hidden, t_.y + ((time * s_.directions + d_) * s_.batch + n) * s_.hidden);
  }

  // x: z r h parts from the input.
  void GruGates(float* x, const float* h, int64_t n) {
    for (int64_t i = 0; i < 2 * s_.hidden; ++i) x[i] += h[i];
    Apply(0, x);
    Apply(0, x + s_.hidden);
    for (int64_t i = 0; i < s_.hidden; ++i)
      gated_[n * s_.hidden + i] = x[s_.hidden + i] * h_[n * s_.hidden + i];
  }
  void GruState(float* x, const float* candidate, bool late, float* h) const {
    const float *z = x, *r = x + s_.hidden;
    float* fresh = x + 2 * s_.hidden;
    for (int64_t i = 0; i < s_.hidden; ++i) fresh[i] += late ? candidate[i] : r[i] * candidate[i];
    Apply(1, fresh);
    for (int64_t i = 0; i < s_.hidden; ++i) h[i] = (1 - z[i]) * fresh[i] + z[i] * h[i];
  }

  // x: i o f c parts, sums of input and state.
  void Lstm(float* x, float* h, float* c) const {
    const int64_t n = s_.hidden;
    float *input = x, *output = x + n, *forget = x + 2 * n, *fresh = x + 3 * n;
    if (p_)
      for (int64_t i = 0; i < n; ++i) input[i] += p_[i] * c[i], forget[i] += p_[2 * n + i] * c[i];
    Apply(0, input);
    if (s_.input_forget)
      for (int64_t i = 0; i < n; ++i) forget[i] = 1 - input[i];
    else
      Apply(0, forget);
    Apply(1, fresh);
    for (int64_t i = 0; i < n; ++i) c[i] = forget[i] * c[i] + input[i] * fresh[i];
    if (p_)
      for (int64_t i = 0; i < n; ++i) output[i] += p_[n + i] * c[i];
    Apply(0, output);
    ApplyFreely(2, c, h);
    for (int64_t i = 0; i < n; ++i) h[i] *= output[i];
  }

  const RnnShape& s_;
  const RnnTensors& t_;
  int64_t d_, width_;
  const Workers& workers_;
  float *from_x_, *from_h_, *h_, *c_, *gated_, *gemm_;
  const float *w_, *r_, *b_, *p_;
  const RnnFunction* functions_;
};

}  // namespace

size_t RnnScratch(const RnnShape& s, int threads) {
  const int64_t width = s.gates() * s.hidden, state = Rounded(s.batch * s.hidden);
  const size_t gemm = std::max({GemmScratch(Product(s.length * s.batch, width, s.features), threads),
                                GemmScratch(Product(s.batch, width, s.hidden), threads),
                                GemmScratch(Product(s.batch, s.hidden, s.hidden), threads),
                                GemmScratch(Product(s.batch, 2 * s.hidden, s.hidden), threads)});
  return static_cast<size_t>(Rounded(s.length * s.batch * width) + Rounded(s.batch * width) + 3 * state) *
             sizeof(float) +
         gemm;
}

void RnnF32(const RnnShape& s, const RnnTensors& t, void* scratch, const Workers& workers) {
  for (int64_t d = 0; d < s.directions; ++d) Direction(s, t, d, static_cast<float*>(scratch), workers).Run();
}

}  // namespace tern::cpu
