#include "kernels/cpu/rnn/cell_simd.h"

#include "kernels/cpu/elementwise/math-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

inline Floats Clipped(Floats v, float clip) { return AtMost(AtLeast(v, -clip), clip); }

void Lstm(const LstmRow& r) {
  EachVector(r.n, [&](int64_t i, const auto& load, const auto& store) {
    const Floats before = load(r.c + i);
    Floats input = load(r.input + i), output = load(r.output + i), forget = load(r.forget + i);
    if (r.peephole) {
      input += load(r.peephole + i) * before;
      forget += load(r.peephole + 2 * r.peephole_step + i) * before;
    }
    const Floats c = Sigmoid(Clipped(forget, r.clip)) * before +
                     Sigmoid(Clipped(input, r.clip)) * Tanh(Clipped(load(r.fresh + i), r.clip));
    if (r.peephole) output += load(r.peephole + r.peephole_step + i) * c;
    const Floats h = Sigmoid(Clipped(output, r.clip)) * Tanh(c);
    store(r.c + i, c);
    store(r.h + i, h);
    if (r.y) store(r.y + i, h);
  });
}

void GruReset(const GruRow& r) {
  EachVector(r.n, [&](int64_t i, const auto& load, const auto& store) {
    store(r.gated + i, Sigmoid(Clipped(load(r.reset + i), r.clip)) * load(r.before + i));
  });
}

void Gru(const GruRow& r) {
  EachVector(r.n, [&](int64_t i, const auto& load, const auto& store) {
    Floats candidate = load(r.candidate + i);
    if (!r.reset_applied) candidate *= Sigmoid(Clipped(load(r.reset + i), r.clip));
    const Floats update = Sigmoid(Clipped(load(r.update + i), r.clip));
    const Floats fresh = Tanh(Clipped(load(r.fresh + i) + candidate, r.clip));
    const Floats h = (1.f - update) * fresh + update * load(r.before + i);
    store(r.h + i, h);
    if (r.y) store(r.y + i, h);
  });
}

}  // namespace

const CellTable kCellSimd = {Lstm, GruReset, Gru};

}  // namespace tern::cpu::TERN_SIMD
