#include "kernels/cpu/rnn/rnn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

class RnnLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, RnnLevels, testing::ValuesIn(LevelsAndBf16Here()));

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Layer {
  RnnShape s;
  std::vector<float> x, w, r, b, h0, input_panels, state_panels;
  std::vector<int64_t> lengths;

  Layer(RnnCellKind kind, bool linear_before_reset, int64_t directions, int64_t batch, int64_t hidden,
        Operands operands, bool ragged) {
    s.kind = kind, s.operands = operands, s.linear_before_reset = linear_before_reset;
    s.length = 5, s.batch = batch, s.features = 33, s.hidden = hidden, s.directions = directions;
    for (int64_t d = 0; d < directions; ++d) {
      if (kind != RnnCellKind::kRnn) s.functions.push_back({UnaryKind::kSigmoid});
      s.functions.push_back({UnaryKind::kTanh});
      if (kind == RnnCellKind::kLstm) s.functions.push_back({UnaryKind::kTanh});
    }
    const int64_t width = s.gates() * hidden;
    x = Random(s.length * batch * s.features, 1);
    w = Random(directions * width * s.features, 2), r = Random(directions * width * hidden, 3);
    for (float& v : r) v *= 0.1f;
    b = Random(directions * 2 * width, 4), h0 = Random(directions * batch * hidden, 5);
    if (ragged)
      for (int64_t n = 0; n < batch; ++n) lengths.push_back((n * 3 + 4) % (s.length + 1));
    input_panels.assign(static_cast<size_t>(RnnInputSize(s)), kNaN);
    state_panels.assign(static_cast<size_t>(RnnStateSize(s)), kNaN);
    PackRnnInput(s, w.data(), input_panels.data(), Workers(2));
    PackRnnState(s, r.data(), state_panels.data(), Workers(2));
  }

  // Returns y, followed by the last states.
  std::vector<float> Run(int threads) const {
    const int64_t states = s.directions * s.batch * s.hidden;
    std::vector<float> out(static_cast<size_t>((s.length + 2) * states), kNaN);
    RnnTensors t;
    t.x = x.data(), t.w = input_panels.data(), t.r = state_panels.data(), t.b = b.data(), t.h0 = h0.data();
    if (!lengths.empty()) t.lengths = lengths.data(), t.wide_lengths = true;
    t.y = out.data(), t.y_h = t.y + s.length * states;
    if (s.kind == RnnCellKind::kLstm) t.y_c = t.y_h + states;
    std::vector<float> scratch(RnnScratch(s, threads) / sizeof(float) + 1, kNaN);
    RnnF32(s, t, scratch.data(), Workers(threads));
    return out;
  }

  // Returns the pre-activation of element i of gate g, from the input or from a state.
  double From(const std::vector<float>& weights, int64_t inner, int64_t d, int64_t g, int64_t i,
              const auto& state, int64_t bias) const {
    const int64_t row = (d * s.gates() + g) * s.hidden + i;
    double sum = b[static_cast<size_t>((d * 2 + bias) * s.gates() * s.hidden + g * s.hidden + i)];
    for (int64_t k = 0; k < inner; ++k)
      sum += weights[static_cast<size_t>(row * inner + k)] * double{state[static_cast<size_t>(k)]};
    return sum;
  }
  // Advances the state of sample n in direction d by one step.
  void Step(int64_t d, int64_t n, int64_t time, std::vector<double>& h, std::vector<double>& c) const {
    const auto size = static_cast<size_t>(s.hidden);
    const std::vector<float> in(x.begin() + (time * s.batch + n) * s.features,
                                x.begin() + (time * s.batch + n + 1) * s.features);
    const auto from_x = [&](int64_t g, size_t i) {
      return From(w, s.features, d, g, static_cast<int64_t>(i), in, 0);
    };
    const auto from = [&](int64_t g, size_t i, const std::vector<double>& state) {
      return From(r, s.hidden, d, g, static_cast<int64_t>(i), state, 1);
    };
    std::vector<double> next(size), gated(size);
    for (size_t i = 0; i < size; ++i) {
      if (s.kind == RnnCellKind::kRnn) next[i] = std::tanh(from_x(0, i) + from(0, i, h));
      if (s.kind == RnnCellKind::kGru) gated[i] = Sigmoid(from_x(1, i) + from(1, i, h)) * h[i];
      if (s.kind != RnnCellKind::kLstm) continue;
      const auto gate = [&](int64_t g) { return from_x(g, i) + from(g, i, h); };
      c[i] = Sigmoid(gate(2)) * c[i] + Sigmoid(gate(0)) * std::tanh(gate(3));
      next[i] = Sigmoid(gate(1)) * std::tanh(c[i]);
    }
    for (size_t i = 0; s.kind == RnnCellKind::kGru && i < size; ++i) {
      const double z = Sigmoid(from_x(0, i) + from(0, i, h));
      const double candidate =
          s.linear_before_reset ? Sigmoid(from_x(1, i) + from(1, i, h)) * from(2, i, h) : from(2, i, gated);
      next[i] = (1 - z) * std::tanh(from_x(2, i) + candidate) + z * h[i];
    }
    h = next;
  }
  std::vector<double> LastState(int64_t d, int64_t n) const {
    const int64_t length = lengths.empty() ? s.length : lengths[static_cast<size_t>(n)];
    const float* start = h0.data() + (d * s.batch + n) * s.hidden;
    std::vector<double> h(start, start + s.hidden), c(static_cast<size_t>(s.hidden), 0.0);
    for (int64_t step = 0; step < length; ++step) Step(d, n, d == 1 ? length - 1 - step : step, h, c);
    return h;
  }
};

void CheckLayer(const Layer& layer) {
  const RnnShape& s = layer.s;
  const std::vector<float> y = layer.Run(1);
  const int64_t states = s.directions * s.batch * s.hidden;
  const double tolerance = s.operands == Operands::kF32 ? 2e-5 : 0.05;
  for (int64_t d = 0; d < s.directions; ++d)
    for (int64_t n = 0; n < s.batch; n += 2) {
      const std::vector<double> expected = layer.LastState(d, n);
      for (int64_t i = 0; i < s.hidden; ++i)
        ASSERT_NEAR(y[static_cast<size_t>(s.length * states + (d * s.batch + n) * s.hidden + i)],
                    expected[static_cast<size_t>(i)], tolerance)
            << "direction " << d << ", sample " << n << ", element " << i;
    }
  const size_t count = s.kind == RnnCellKind::kLstm ? y.size() : y.size() - static_cast<size_t>(states);
  for (int threads : {2, 3, 5}) {
    const std::vector<float> other = layer.Run(threads);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(y[i], other[i]) << threads << " threads, element " << i;
  }
}

TEST_P(RnnLevels, SameForAnyNumberOfThreads) {
  struct Kind {
    RnnCellKind kind;
    bool linear_before_reset;
  };
  for (const Kind& kind : {Kind{RnnCellKind::kRnn, false}, Kind{RnnCellKind::kGru, false},
                           Kind{RnnCellKind::kGru, true}, Kind{RnnCellKind::kLstm, false}})
    for (int64_t directions : {1, 2})
      for (const auto& [batch, hidden] : {std::pair<int64_t, int64_t>{1, 512}, {3, 200}, {17, 100}, {2, 3}})
        for (Operands operands : {Operands::kF32, Operands::kBf16})
          for (bool ragged : {false, true}) {
            if (batch == 1 && (directions == 2 || ragged)) continue;
            SCOPED_TRACE(testing::Message()
                         << kRnnNames[static_cast<int>(kind.kind)] << " " << directions << " directions, "
                         << batch << "x" << hidden << (operands == Operands::kF32 ? "" : ", bf16")
                         << (ragged ? ", ragged" : ""));
            CheckLayer({kind.kind, kind.linear_before_reset, directions, batch, hidden, operands, ragged});
          }
}

}  // namespace
}  // namespace tern::cpu
