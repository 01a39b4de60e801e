#include "kernels/cpu/rnn/cell.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/elementwise/elementwise_simd.h"
#include "kernels/cpu/rnn/cell_simd.h"

namespace tern::cpu {

Cell::Cell(const RnnShape& s, const RnnFunction* functions, const float* peephole)
    : s_(s), functions_(functions), peephole_(peephole), clip_(s.clip > 0 ? s.clip : HUGE_VALF) {
  const auto is = [&](size_t i, UnaryKind kind) { return functions[i].kind == kind; };
  fused_ = s.kind != RnnCellKind::kRnn && is(0, UnaryKind::kSigmoid) && is(1, UnaryKind::kTanh);
  if (s.kind == RnnCellKind::kLstm) fused_ = fused_ && is(2, UnaryKind::kTanh) && !s.input_forget;
}

void Cell::Apply(size_t function, float* v, int64_t n) const {
  if (s_.clip > 0)
    for (int64_t i = 0; i < n; ++i) v[i] = std::clamp(v[i], -s_.clip, s_.clip);
  ApplyUnclipped(function, v, v, n);
}

void Cell::ApplyUnclipped(size_t function, const float* x, float* y, int64_t n) const {
  const RnnFunction& f = functions_[function];
  UnarySimd().f32(f.kind, x, y, n, f.alpha, f.beta);
}

void Cell::Reset(const Row& row) const {
  const int64_t n = row.n;
  float* reset = row.x + s_.hidden;
  if (fused_) {
    GruRow gru;
    gru.reset = reset, gru.before = row.before, gru.gated = row.gated, gru.n = n, gru.clip = clip_;
    return CellSimd().gru_reset(gru);
  }
  Apply(0, reset, n);
  for (int64_t i = 0; i < n; ++i) row.gated[i] = reset[i] * row.before[i];
}

void Cell::Finish(const Row& row) const {
  if (s_.kind == RnnCellKind::kGru) return Gru(row);
  if (s_.kind == RnnCellKind::kLstm) return Lstm(row);
  Apply(0, row.x, row.n);
  std::copy(row.x, row.x + row.n, row.h);
  if (row.y) std::copy(row.x, row.x + row.n, row.y);
}

// row.x contains the gates z (update), r (reset) and h (candidate).
void Cell::Gru(const Row& row) const {
  const int64_t n = row.n;
  const bool reset_applied = !s_.linear_before_reset;
  float *z = row.x, *r = row.x + s_.hidden, *fresh = row.x + 2 * s_.hidden, *h = row.h;
  if (fused_) {
    GruRow gru;
    gru.update = z, gru.reset = r, gru.fresh = fresh;
    gru.candidate = row.candidate, gru.reset_applied = reset_applied;
    gru.before = row.before, gru.h = h, gru.y = row.y, gru.n = n, gru.clip = clip_;
    return CellSimd().gru(gru);
  }
  Apply(0, z, n);
  if (!reset_applied) Apply(0, r, n);
  for (int64_t i = 0; i < n; ++i) fresh[i] += reset_applied ? row.candidate[i] : r[i] * row.candidate[i];
  Apply(1, fresh, n);
  for (int64_t i = 0; i < n; ++i) h[i] = (1 - z[i]) * fresh[i] + z[i] * row.before[i];
  if (row.y) std::copy(h, h + n, row.y);
}

// row.x contains the gates i (input), o (output), f (forget) and c (cell).
void Cell::Lstm(const Row& row) const {
  const int64_t n = row.n, hidden = s_.hidden;
  float *input = row.x, *output = row.x + hidden, *forget = row.x + 2 * hidden, *fresh = row.x + 3 * hidden;
  float *c = row.c, *h = row.h;
  const float* p = peephole_ ? peephole_ + row.first : nullptr;
  if (fused_) return CellSimd().lstm({input, output, forget, fresh, p, hidden, c, h, row.y, n, clip_});
  if (p)
    for (int64_t i = 0; i < n; ++i) input[i] += p[i] * c[i], forget[i] += p[2 * hidden + i] * c[i];
  Apply(0, input, n);
  if (s_.input_forget)
    for (int64_t i = 0; i < n; ++i) forget[i] = 1 - input[i];
  else
    Apply(0, forget, n);
  Apply(1, fresh, n);
  for (int64_t i = 0; i < n; ++i) c[i] = forget[i] * c[i] + input[i] * fresh[i];
  if (p)
    for (int64_t i = 0; i < n; ++i) output[i] += p[hidden + i] * c[i];
  Apply(0, output, n);
  ApplyUnclipped(2, c, h, n);
  for (int64_t i = 0; i < n; ++i) h[i] *= output[i];
  if (row.y) std::copy(h, h + n, row.y);
}

}  // namespace tern::cpu
