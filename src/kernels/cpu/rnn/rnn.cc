#include "kernels/cpu/rnn/rnn.h"

#include <algorithm>

#include "kernels/cpu/gemm/panels.h"
#include "kernels/cpu/rnn/cell.h"

namespace tern::cpu {
namespace {

int64_t Rounded(int64_t n) { return (n + 15) / 16 * 16; }

// The weights of one direction in panels: of the input; of the state, a GRU's candidate by itself, since it
// has a product of its own.
struct Panels {
  int64_t width, together;  // columns of all gates; of those that are multiplied with the state at once
  int64_t input, state, candidate, all;  // words

  explicit Panels(const RnnShape& s) {
    width = s.gates() * s.hidden;
    together = s.kind == RnnCellKind::kGru ? 2 * s.hidden : width;
    input = Rounded(PanelsSize(s.features, width, s.operands));
    state = Rounded(PanelsSize(s.hidden, together, s.operands));
    candidate = together == width ? 0 : Rounded(PanelsSize(s.hidden, s.hidden, s.operands));
    all = input + state + candidate;
  }
};

PanelProduct Product(const RnnShape& s, int64_t rows, int64_t columns, int64_t inner, int64_t c_row) {
  PanelProduct p;
  p.operands = s.operands;
  p.m = rows, p.n = columns, p.k = inner;
  p.a_row = inner;
  p.c_row = c_row;
  return p;
}

// One direction of a layer.
class Direction {
 public:
  Direction(const RnnShape& s, const RnnTensors& t, int64_t d, float* scratch, const Workers& workers)
      : s_(s), t_(t), d_(d), panels_(s), workers_(workers), cell_(s, FunctionsOf(s, d), PeepholeOf(s, t, d)) {
    from_x_ = Take(scratch, s.length * s.batch * panels_.width);
    from_h_ = Take(scratch, s.batch * panels_.width);
    h_ = Take(scratch, s.batch * s.hidden);
    c_ = Take(scratch, s.batch * s.hidden);
    gated_ = Take(scratch, s.batch * s.hidden);
    bias_ = Take(scratch, panels_.width);
    product_ = scratch;
    w_panels_ = t.panels + d * panels_.all;
    r_panels_ = w_panels_ + panels_.input;
    candidate_panels_ = r_panels_ + panels_.state;
    if (t.b) b_ = t.b + d * 2 * panels_.width;
  }
  static size_t Scratch(const RnnShape& s, int threads) {
    const Panels panels(s);
    const int64_t state = Rounded(s.batch * s.hidden);
    const int64_t floats = Rounded(s.length * s.batch * panels.width) + Rounded(s.batch * panels.width) +
                           3 * state + Rounded(panels.width);
    const size_t product = std::max(
        {PanelScratch(Product(s, s.length * s.batch, panels.width, s.features, panels.width), threads),
         PanelScratch(Product(s, s.batch, panels.together, s.hidden, panels.width), threads),
         PanelScratch(Product(s, s.batch, s.hidden, s.hidden, s.hidden), threads)});
    return static_cast<size_t>(floats) * sizeof(float) + (product + 63) / 64 * 64;
  }

  void Run() {
    const int64_t state = s_.batch * s_.hidden;
    Start(t_.h0, h_), Start(t_.c0, c_);
    AddBiases();
    Multiply(t_.x, w_panels_, Product(s_, s_.length * s_.batch, panels_.width, s_.features, panels_.width),
             b_ ? bias_ : nullptr, from_x_);
    for (int64_t step = 0; step < s_.length; ++step) Step(step);
    if (t_.y_h) std::copy(h_, h_ + state, t_.y_h + d_ * state);
    if (t_.y_c) std::copy(c_, c_ + state, t_.y_c + d_ * state);
  }

 private:
  static const RnnFunction* FunctionsOf(const RnnShape& s, int64_t d) {
    return s.functions.data() +
           static_cast<size_t>(d) * (s.functions.size() / static_cast<size_t>(s.directions));
  }
  static const float* PeepholeOf(const RnnShape& s, const RnnTensors& t, int64_t d) {
    return t.p ? t.p + d * 3 * s.hidden : nullptr;
  }
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
  // Those of input and state together, but for a GRU's candidate: the state's part is added by itself.
  void AddBiases() {
    if (!b_) return;
    const float* of_state = b_ + panels_.width;
    for (int64_t i = 0; i < panels_.width; ++i) bias_[i] = i < panels_.together ? b_[i] + of_state[i] : b_[i];
  }
  void Multiply(const float* a, const float* panels, PanelProduct p, const float* bias, float* c,
                bool accumulate = false) const {
    p.a = a, p.panels = panels, p.c = c;
    p.tile.bias = bias;
    p.accumulate = accumulate;
    MultiplyPanels(p, product_, workers_);
  }
  int64_t LengthOf(int64_t n) const {
    if (!t_.lengths) return s_.length;
    return t_.wide_lengths ? static_cast<const int64_t*>(t_.lengths)[n]
                           : static_cast<const int32_t*>(t_.lengths)[n];
  }

  void Step(int64_t step) {
    AddState(step);
    const bool gru = s_.kind == RnnCellKind::kGru, late = gru && !s_.linear_before_reset;
    if (late)
      for (int64_t n = 0; n < s_.batch; ++n)
        if (step < LengthOf(n)) cell_.Reset(RowOf(step, n));
    if (gru)
      Multiply(late ? gated_ : h_, candidate_panels_, Product(s_, s_.batch, s_.hidden, s_.hidden, s_.hidden),
               b_ ? b_ + panels_.width + panels_.together : nullptr, from_h_);
    for (int64_t n = 0; n < s_.batch; ++n) {
      if (step < LengthOf(n))
        cell_.Finish(RowOf(step, n));
      else if (t_.y)  // Steps beyond a sample's end show zeros; with every step one row, `step` is among
                      // them.
        std::fill_n(t_.y + ((step * s_.directions + d_) * s_.batch + n) * s_.hidden, s_.hidden, 0.f);
    }
  }

  // The gates' sums of this step, but for a GRU's candidate.
  void AddState(int64_t step) {
    const PanelProduct product = Product(s_, s_.batch, panels_.together, s_.hidden, panels_.width);
    if (!t_.lengths)
      return Multiply(h_, r_panels_, product, nullptr, from_x_ + TimeOf(step, 0) * s_.batch * panels_.width,
                      true);
    // Samples are at different times.
    Multiply(h_, r_panels_, product, nullptr, from_h_);
    for (int64_t n = 0; n < s_.batch; ++n) {
      if (step >= LengthOf(n)) continue;
      float* x = RowOf(step, n).x;
      for (int64_t i = 0; i < panels_.together; ++i) x[i] += from_h_[n * panels_.width + i];
    }
  }

  // Which element of the sequence sample n reads in this step.
  int64_t TimeOf(int64_t step, int64_t n) const {
    const bool backward = d_ == 1 || s_.reverse;
    return backward ? LengthOf(n) - 1 - step : step;
  }
  Cell::Row RowOf(int64_t step, int64_t n) const {
    const int64_t time = TimeOf(step, n);
    Cell::Row row;
    row.x = from_x_ + (time * s_.batch + n) * panels_.width;
    row.h = h_ + n * s_.hidden, row.c = c_ + n * s_.hidden;
    if (t_.y) row.y = t_.y + ((time * s_.directions + d_) * s_.batch + n) * s_.hidden;
    row.candidate = from_h_ + n * s_.hidden, row.gated = gated_ + n * s_.hidden;
    return row;
  }

  const RnnShape& s_;
  const RnnTensors& t_;
  int64_t d_;
  Panels panels_;
  const Workers& workers_;
  Cell cell_;
  float *from_x_, *from_h_, *h_, *c_, *gated_, *bias_;
  void* product_;
  const float *w_panels_, *r_panels_, *candidate_panels_;
  const float* b_ = nullptr;
};

}  // namespace

int64_t RnnPanelsSize(const RnnShape& s) { return s.directions * Panels(s).all; }

void PackRnn(const RnnShape& s, const float* w, const float* r, float* panels, const Workers& workers) {
  const Panels size(s);
  for (int64_t d = 0; d < s.directions; ++d, panels += size.all) {
    const float *from_w = w + d * size.width * s.features, *from_r = r + d * size.width * s.hidden;
    PackPanels({from_w, 1, s.features, 1}, s.features, size.width, panels, workers, s.operands);
    PackPanels({from_r, 1, s.hidden, 1}, s.hidden, size.together, panels + size.input, workers, s.operands);
    if (size.candidate)
      PackPanels({from_r + size.together * s.hidden, 1, s.hidden, 1}, s.hidden, s.hidden,
                 panels + size.input + size.state, workers, s.operands);
  }
}

size_t RnnScratch(const RnnShape& s, int threads) {
  return Direction::Scratch(s, threads) * static_cast<size_t>(s.directions);
}

void RnnF32(const RnnShape& s, const RnnTensors& t, void* scratch, const Workers& workers) {
  const size_t each = Direction::Scratch(s, workers.threads());
  const auto run = [&](int64_t d, const Workers& mine) {
    auto* memory = reinterpret_cast<float*>(static_cast<char*>(scratch) + each * static_cast<size_t>(d));
    Direction(s, t, d, memory, mine).Run();
  };
  if (s.directions == 1) return run(0, workers);
  const Workers alone(1);
  workers.ParallelFor(s.directions, 1, [&](int64_t begin, int64_t end) {
    for (int64_t d = begin; d < end; ++d) run(d, alone);
  });
}

}  // namespace tern::cpu
