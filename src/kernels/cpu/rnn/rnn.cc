#include "kernels/cpu/rnn/rnn.h"

#include <algorithm>
#include <optional>

#include "base/steps.h"
#include "kernels/cpu/gemm/panels.h"
#include "kernels/cpu/rnn/cell.h"
#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/job_rounds.h"

namespace tern::cpu {
namespace {

constexpr int64_t kMinWorkPerThread = 1 << 16;  // in multiplications per step
constexpr int64_t kFew = 4;                     // maximum samples for which Tile::few_rows is set

// Sizes of the packed weights of one gate, in dwords. Each gate is packed separately, so that a slice of the
// state consists of full panels in every gate.
struct Panels {
  int64_t input, state;

  explicit Panels(const RnnShape& s)
      : input(LineAligned(PanelsSize(s.features, s.hidden, s.operands))),
        state(LineAligned(PanelsSize(s.hidden, s.hidden, s.operands))) {}
};

// Packs the weights of all gates. `inner` is the number of elements of a row, and `step` is the number of
// dwords of a packed gate.
void PackGates(const RnnShape& s, const float* from, int64_t inner, int64_t step, float* to,
               const Workers& workers) {
  for (int64_t gate = 0; gate < s.directions * s.gates(); ++gate)
    PackPanels({from + gate * s.hidden * inner, 1, inner, 1}, inner, s.hidden, to + gate * step, workers,
               s.operands);
}

// A slice of the state and its gates. In most steps, the same thread computes a slice. So the weights of the
// slice stay in the caches of one core if they fit.
struct Slice {
  int64_t begin, end;
};

int SlicesOf(const RnnShape& s, int threads) {
  const int64_t panels = CeilDiv(s.hidden, TileFor(s.operands).columns);
  const int64_t work = s.batch * s.gates() * s.hidden * (s.hidden + s.features);
  const int64_t max_slices =
      std::min<int64_t>({threads / s.directions, panels, kMaxStepChunks / s.directions});
  return static_cast<int>(std::clamp<int64_t>(work / kMinWorkPerThread, 1, std::max<int64_t>(1, max_slices)));
}

Slice SliceOf(const RnnShape& s, int slice, int slices) {
  const int64_t width = TileFor(s.operands).columns, panels = CeilDiv(s.hidden, width);
  return {panels * slice / slices * width, std::min(s.hidden, panels * (slice + 1) / slices * width)};
}

// One direction of a layer.
class Direction {
 public:
  Direction(const RnnShape& s, const RnnTensors& t, int64_t d, float* scratch)
      : s_(s),
        t_(t),
        table_(TileFor(s.operands)),
        d_(d),
        width_(s.gates() * s.hidden),
        h_row_(PaddedRow(s.hidden)),
        packed_row_(PaddedRow(table_.dwords(s.hidden))),
        panels_(s),
        cell_(s, FunctionsOf(s, d), PeepholeOf(s, t, d)) {
    from_x_ = Take(scratch, s.length * s.batch * width_);
    from_h_ = Take(scratch, s.batch * width_);
    c_ = Take(scratch, s.batch * s.hidden);
    bias_ = Take(scratch, width_);
    for (State* state : {&h_[0], &h_[1], &gated_}) {
      state->exact = state->packed = Take(scratch, s.batch * h_row_);
      if (table_.per_lane > 1) state->packed = Take(scratch, s.batch * packed_row_);
    }
    product_ = scratch;
    input_ = t.w + d * s.gates() * panels_.input;
    state_ = t.r + d * s.gates() * panels_.state;
    if (t.b) b_ = t.b + d * 2 * width_;
  }
  static size_t Scratch(const RnnShape& s, int threads) {
    const int64_t width = s.gates() * s.hidden, dwords = TileFor(s.operands).dwords(s.hidden);
    int64_t states = s.batch * PaddedRow(s.hidden);
    if (s.operands != Operands::kF32) states += s.batch * PaddedRow(dwords);
    const int64_t floats = LineAligned(s.length * s.batch * width) + LineAligned(s.batch * width) +
                           LineAligned(s.batch * s.hidden) + LineAligned(width) + 3 * states;
    return static_cast<size_t>(floats) * sizeof(float) + ProductScratch(s, threads);
  }

  // Returns the number of phases of a step. It is 2 for a GRU that multiplies the gated state by the weights
  // of the candidate. All slices of the gated state must be complete before this product.
  static int Phases(const RnnShape& s) {
    return s.kind == RnnCellKind::kGru && !s.linear_before_reset ? 2 : 1;
  }

  void Begin() {
    const int64_t n = s_.batch * s_.hidden;
    for (int64_t i = 0; i < s_.batch; ++i) {
      float* h = h_[0].exact + i * h_row_;
      if (t_.h0)
        std::copy_n(t_.h0 + d_ * n + i * s_.hidden, s_.hidden, h);
      else
        std::fill_n(h, s_.hidden, 0.f);
      Round(h_[0], i, {0, s_.hidden});
    }
    if (t_.c0)
      std::copy_n(t_.c0 + d_ * n, n, c_);
    else
      std::fill_n(c_, n, 0.f);
    AddBiases();
  }

  // Returns the scratch of one of `slices` slices. All slices get that of the largest.
  static size_t SliceScratch(const RnnShape& s, int slices) {
    size_t bytes = 0;
    for (int i = 0; i < slices; ++i) {
      const Slice range = SliceOf(s, i, slices);
      bytes = std::max(bytes, PanelScratch(InputProduct(s, range.end - range.begin), 1));
    }
    return bytes;
  }

  // Computes the input products of the entire sequence for the gates of a slice. `offset` is where the
  // scratch of the slice begins, in bytes.
  void Input(const Slice& range, size_t offset, const Workers& workers) const {
    PanelProduct p = InputProduct(s_, range.end - range.begin);
    void* scratch = static_cast<char*>(product_) + offset;
    for (int64_t gate = 0; gate < s_.gates(); ++gate) {
      const int64_t column = gate * s_.hidden + range.begin;
      p.a = t_.x, p.c = from_x_ + column;
      p.panels = input_ + gate * panels_.input + range.begin * table_.dwords(s_.features);
      p.tile.bias = b_ ? bias_ + column : nullptr;
      MultiplyPanels(p, scratch, workers);
    }
  }

  void Phase(int64_t step, int phase, const Slice& range) const {
    const bool gru = s_.kind == RnnCellKind::kGru, two = Phases(s_) == 2;
    if (phase == 0) {
      MultiplyState(step, h_[step % 2], 0, two ? 2 : s_.gates(), range);
      AddSums(step, gru ? 2 : s_.gates(), range);
    }
    if (phase == 0 && two) return Reset(step, range);
    if (two) MultiplyState(step, gated_, 2, 3, range);
    Finish(step, range);
  }

  void End() const {
    const int64_t n = s_.batch * s_.hidden;
    const State& last = h_[s_.length % 2];
    for (int64_t i = 0; t_.y_h && i < s_.batch; ++i)
      std::copy_n(last.exact + i * h_row_, s_.hidden, t_.y_h + d_ * n + i * s_.hidden);
    if (t_.y_c) std::copy_n(c_, n, t_.y_c + d_ * n);
  }

 private:
  // A state has one row per sample in f32. `packed` points to the same rows as operands of the products: rows
  // of bf16 pairs, or the f32 rows themselves.
  struct State {
    float *exact = nullptr, *packed = nullptr;
  };

  static const RnnFunction* FunctionsOf(const RnnShape& s, int64_t d) {
    return s.functions.data() +
           static_cast<size_t>(d) * (s.functions.size() / static_cast<size_t>(s.directions));
  }
  static const float* PeepholeOf(const RnnShape& s, const RnnTensors& t, int64_t d) {
    return t.p ? t.p + d * 3 * s.hidden : nullptr;
  }
  static float* Take(float*& at, int64_t n) {
    float* start = at;
    at += LineAligned(n);
    return start;
  }
  static PanelProduct InputProduct(const RnnShape& s, int64_t columns) {
    PanelProduct p;
    p.operands = s.operands;
    p.m = s.length * s.batch, p.n = columns, p.k = s.features;
    p.a_row = s.features, p.c_row = s.gates() * s.hidden;
    return p;
  }
  static size_t ProductScratch(const RnnShape& s, int threads) {
    const size_t sliced = MostScratch(threads, [&](int n) {
      const int slices = SlicesOf(s, n);
      return static_cast<size_t>(slices) * SliceScratch(s, slices);
    });
    return Aligned(std::max(PanelScratch(InputProduct(s, s.hidden), threads), sliced));
  }

  // Adds the biases of input and state, except for a GRU's candidate, whose state bias is added to its state
  // product.
  void AddBiases() {
    if (!b_) return;
    const int64_t summed = s_.kind == RnnCellKind::kGru ? 2 * s_.hidden : width_;
    for (int64_t i = 0; i < width_; ++i) bias_[i] = i < summed ? b_[i] + b_[width_ + i] : b_[i];
  }
  void Round(const State& state, int64_t n, const Slice& range) const {
    if (table_.per_lane == 1) return;
    table_.copy(state.exact + n * h_row_ + range.begin, range.end - range.begin,
                state.packed + n * packed_row_ + range.begin / table_.per_lane);
  }
  int64_t LengthOf(int64_t n) const {
    if (!t_.lengths) return s_.length;
    return t_.wide_lengths ? static_cast<const int64_t*>(t_.lengths)[n]
                           : static_cast<const int32_t*>(t_.lengths)[n];
  }

  // Computes the products of a state with the weights of gates [first, last). Every other step visits the
  // panels in reverse order, because the panels that the previous step read last are still in cache.
  void MultiplyState(int64_t step, const State& state, int64_t first, int64_t last,
                     const Slice& range) const {
    const TileScope scope;
    const int64_t panels = CeilDiv(range.end - range.begin, table_.columns), count = (last - first) * panels;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = step % 2 ? count - 1 - i : i;
      MultiplyPanel(step, state, first + at / panels, range.begin + at % panels * table_.columns, range.end);
    }
  }
  void MultiplyPanel(int64_t step, const State& state, int64_t gate, int64_t column, int64_t end) const {
    const int64_t dwords = table_.dwords(s_.hidden);
    const bool candidate = s_.kind == RnnCellKind::kGru && gate == 2;
    Tile t;
    t.a = state.packed, t.a_row = table_.per_lane == 1 ? h_row_ : packed_row_;
    t.b = state_ + gate * panels_.state + column * dwords;
    t.k = dwords, t.few_rows = s_.batch <= kFew;
    t.columns = std::min<int64_t>(table_.columns, end - column);
    t.accumulate = !candidate && !t_.lengths;
    t.c =
        (t.accumulate ? from_x_ + TimeOf(step, 0) * s_.batch * width_ : from_h_) + gate * s_.hidden + column;
    t.c_row = width_;
    t.bias = candidate && b_ ? b_ + width_ + gate * s_.hidden + column : nullptr;
    table_.RunRows(t, s_.batch);
  }
  // With sequence lengths, one step may read samples at different times. So the state products are first
  // written to from_h_, and this function adds them to from_x_.
  void AddSums(int64_t step, int64_t gates, const Slice& range) const {
    if (!t_.lengths) return;
    for (int64_t n = 0; n < s_.batch; ++n) {
      if (step >= LengthOf(n)) continue;
      float* x = from_x_ + (TimeOf(step, n) * s_.batch + n) * width_;
      for (int64_t gate = 0; gate < gates; ++gate)
        for (int64_t i = gate * s_.hidden + range.begin; i < gate * s_.hidden + range.end; ++i)
          x[i] += from_h_[n * width_ + i];
    }
  }

  void Reset(int64_t step, const Slice& range) const {
    for (int64_t n = 0; n < s_.batch; ++n) {
      if (step >= LengthOf(n)) continue;
      cell_.Reset(RowOf(step, n, range));
      Round(gated_, n, range);
    }
  }
  void Finish(int64_t step, const Slice& range) const {
    const int64_t count = range.end - range.begin;
    for (int64_t n = 0; n < s_.batch; ++n) {
      const int64_t at = n * h_row_ + range.begin;
      if (step < LengthOf(n)) {
        cell_.Finish(RowOf(step, n, range));
      } else {  // After the end of a sample, the state does not change and y is 0.
        std::copy_n(h_[step % 2].exact + at, count, h_[(step + 1) % 2].exact + at);
        if (t_.y)
          std::fill_n(t_.y + ((step * s_.directions + d_) * s_.batch + n) * s_.hidden + range.begin, count,
                      0.f);
      }
      Round(h_[(step + 1) % 2], n, range);
    }
  }

  // Returns the index in the sequence that sample n reads in this step.
  int64_t TimeOf(int64_t step, int64_t n) const {
    const bool backward = d_ == 1 || s_.reverse;
    return backward ? LengthOf(n) - 1 - step : step;
  }
  Cell::Row RowOf(int64_t step, int64_t n, const Slice& range) const {
    const int64_t time = TimeOf(step, n), at = n * h_row_ + range.begin;
    Cell::Row row;
    row.first = range.begin, row.n = range.end - range.begin;
    row.x = from_x_ + (time * s_.batch + n) * width_ + range.begin;
    row.before = h_[step % 2].exact + at, row.h = h_[(step + 1) % 2].exact + at;
    row.c = c_ + n * s_.hidden + range.begin;
    if (t_.y) row.y = t_.y + ((time * s_.directions + d_) * s_.batch + n) * s_.hidden + range.begin;
    row.candidate = from_h_ + n * width_ + 2 * s_.hidden + range.begin, row.gated = gated_.exact + at;
    return row;
  }

  const RnnShape& s_;
  const RnnTensors& t_;
  const TileTable& table_;
  int64_t d_, width_;           // index of the direction; number of elements of all gates
  int64_t h_row_, packed_row_;  // row strides of states: f32, and packed
  Panels panels_;
  Cell cell_;
  float *from_x_, *from_h_, *c_, *bias_;
  State h_[2], gated_;  // step i reads h_[i % 2] and writes the other element of h_
  void* product_;
  const float *input_, *state_;  // panels
  const float* b_ = nullptr;
};

void RunAlone(const RnnShape& s, Direction& direction, const Workers& workers) {
  const Slice entire{0, s.hidden};
  direction.Begin();
  direction.Input(entire, 0, workers);
  for (int64_t step = 0; step < s.length; ++step)
    for (int phase = 0; phase < Direction::Phases(s); ++phase) direction.Phase(step, phase, entire);
  direction.End();
}

}  // namespace

int64_t RnnInputSize(const RnnShape& s) { return s.directions * s.gates() * Panels(s).input; }
int64_t RnnStateSize(const RnnShape& s) { return s.directions * s.gates() * Panels(s).state; }

void PackRnnInput(const RnnShape& s, const float* w, float* to, const Workers& workers) {
  PackGates(s, w, s.features, Panels(s).input, to, workers);
}

void PackRnnState(const RnnShape& s, const float* r, float* to, const Workers& workers) {
  PackGates(s, r, s.hidden, Panels(s).state, to, workers);
}

size_t RnnScratch(const RnnShape& s, int threads) {
  return Direction::Scratch(s, threads) * static_cast<size_t>(s.directions);
}

void RnnF32(const RnnShape& s, const RnnTensors& t, void* scratch, const Workers& workers) {
  if (s.batch == 0 || s.hidden == 0) return;
  const size_t direction_bytes = Direction::Scratch(s, workers.threads());
  std::optional<Direction> directions[2];
  for (int64_t d = 0; d < s.directions; ++d)
    directions[d].emplace(
        s, t, d,
        reinterpret_cast<float*>(static_cast<char*>(scratch) + direction_bytes * static_cast<size_t>(d)));
  const int slices = SlicesOf(s, workers.threads());
  if (slices == 1 && s.directions == 1) return RunAlone(s, *directions[0], workers);
  const Workers one_thread(1);
  if (slices == 1)
    return workers.ParallelFor(s.directions, 1, [&](int64_t begin, int64_t end) {
      for (int64_t d = begin; d < end; ++d) RunAlone(s, *directions[d], one_thread);
    });
  const int phases = Direction::Phases(s);
  const size_t slice_bytes = Direction::SliceScratch(s, slices);
  for (int64_t d = 0; d < s.directions; ++d) directions[d]->Begin();
  ParallelSteps(workers, s.length * phases, static_cast<int>(s.directions) * slices,
                [&](int64_t step, int chunk) {
                  const int slice = chunk % slices;
                  const Slice range = SliceOf(s, slice, slices);
                  const Direction& direction = *directions[chunk / slices];
                  if (step == 0) direction.Input(range, static_cast<size_t>(slice) * slice_bytes, one_thread);
                  direction.Phase(step / phases, static_cast<int>(step % phases), range);
                });
  for (int64_t d = 0; d < s.directions; ++d) directions[d]->End();
}

}  // namespace tern::cpu
