#include "kernels/cpu/rnn/cell.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/elementwise/elementwise_simd.h"
#include "kernels/cpu/rnn/cell_simd.h"

namespace tern::cpu {

Cell::Cell(const RnnShape& s, const RnnFunction* functions, const float* peephole)
    : s_(s), functions_(functions), peephole_(peephole), clip_(s.clip > 0 ? s.clip : HUGE_VALF) {
  const auto is = [&](size_t i, UnaryKind kind) { return functions[i].kind == kind; };
  usual_ = s.kind != RnnCellKind::kRnn && is(0, UnaryKind::kSigmoid) && is(1, UnaryKind::kTanh);
  if (s.kind == RnnCellKind::kLstm) usual_ = usual_ && is(2, UnaryKind::kTanh) && !s.input_forget;
}

void Cell::Apply(size_t function, float* v) const {
  if (s_.clip > 0)
    for (int64_t i = 0; i < s_.hidden; ++i) v[i] = std::clamp(v[i], -s_.clip, s_.clip);
  ApplyFreely(function, v, v);
}

void Cell::ApplyFreely(size_t function, const float* x, float* y) const {
  const RnnFunction& f = functions_[function];
  UnarySimd().f32(f.kind, x, y, s_.hidden, f.alpha, f.beta);
}

void Cell::Reset(const Row& row) const {
  const int64_t n = s_.hidden;
  if (usual_) {
    GruRow gru;
    gru.reset = row.x + n, gru.h = row.h, gru.gated = row.gated, gru.n = n, gru.clip = clip_;
    return CellSimd().gru_reset(gru);
  }
  float* reset = row.x + n;
  Apply(0, reset);
  for (int64_t i = 0; i < n; ++i) row.gated[i] = reset[i] * row.h[i];
}

void Cell::Finish(const Row& row) const {
  if (s_.kind == RnnCellKind::kGru) return Gru(row);
  if (s_.kind == RnnCellKind::kLstm) return Lstm(row);
  Apply(0, row.x);
  std::copy(row.x, row.x + s_.hidden, row.h);
  if (row.y) std::copy(row.x, row.x + s_.hidden, row.y);
}

// x: z r h parts.
void Cell::Gru(const Row& row) const {
  const int64_t n = s_.hidden;
  const bool late = !s_.linear_before_reset;
  if (usual_) {
    GruRow gru;
    gru.update = row.x, gru.reset = row.x + n, gru.fresh = row.x + 2 * n;
    gru.candidate = row.candidate, gru.late = late;
    gru.h = row.h, gru.y = row.y, gru.n = n, gru.clip = clip_;
    return CellSimd().gru(gru);
  }
  float *z = row.x, *r = row.x + n, *fresh = row.x + 2 * n, *h = row.h;
  Apply(0, z);
  if (!late) Apply(0, r);
  for (int64_t i = 0; i < n; ++i) fresh[i] += late ? row.candidate[i] : r[i] * row.candidate[i];
  Apply(1, fresh);
  for (int64_t i = 0; i < n; ++i) h[i] = (1 - z[i]) * fresh[i] + z[i] * h[i];
  if (row.y) std::copy(h, h + n, row.y);
}

// x: i o f c parts.
void Cell::Lstm(const Row& row) const {
  const int64_t n = s_.hidden;
  float *input = row.x, *output = row.x + n, *forget = row.x + 2 * n, *fresh = row.x + 3 * n;
  float *c = row.c, *h = row.h;
  if (usual_) return CellSimd().lstm({input, output, forget, fresh, peephole_, c, h, row.y, n, clip_});
  const float* p = peephole_;
  if (p)
    for (int64_t i = 0; i < n; ++i) input[i] += p[i] * c[i], forget[i] += p[2 * n + i] * c[i];
  Apply(0, input);
  if (s_.input_forget)
    for (int64_t i = 0; i < n; ++i) forget[i] = 1 - input[i];
  else
    Apply(0, forget);
  Apply(1, fresh);
  for (int64_t i = 0; i < n; ++i) c[i] = forget[i] * c[i] + input[i] * fresh[i];
  if (p)
    for (int64_t i = 0; i < n; ++i) output[i] += p[n + i] * c[i];
  Apply(0, output);
  ApplyFreely(2, c, h);
  for (int64_t i = 0; i < n; ++i) h[i] *= output[i];
  if (row.y) std::copy(h, h + n, row.y);
}

}  // namespace tern::cpu
