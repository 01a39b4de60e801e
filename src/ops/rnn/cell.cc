#include "ops/rnn/cell.h"

#include <algorithm>

namespace tern {
namespace {

double Dot(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

int64_t RnnCell::GateCount() const { return kind == RnnKind::kRnn ? 1 : kind == RnnKind::kGru ? 3 : 4; }

double RnnCell::FromInput(int64_t row, const double* x) const {
  return Dot(w + row * features, x, features) + b[row];
}

double RnnCell::FromState(int64_t row, const double* h) const {
  return Dot(r + row * hidden, h, hidden) + b[GateCount() * hidden + row];
}

double RnnCell::Gate(int64_t gate, int64_t i, const double* x, const double* h) const {
  return FromInput(gate * hidden + i, x) + FromState(gate * hidden + i, h);
}

double RnnCell::Apply(size_t function, double v) const {
  return functions[function](clip > 0 ? std::clamp(v, -clip, clip) : v);
}

void RnnCell::StepRnn(const double* x, double* h) const {
  std::vector<double> next(static_cast<size_t>(hidden));
  for (int64_t i = 0; i < hidden; ++i) next[static_cast<size_t>(i)] = Apply(0, Gate(0, i, x, h));
  std::copy(next.begin(), next.end(), h);
}

void RnnCell::StepGru(const double* x, double* h) const {
  const size_t n = static_cast<size_t>(hidden);
  std::vector<double> update(n), reset(n), gated(n), next(n);
  for (size_t i = 0; i < n; ++i) {
    update[i] = Apply(0, Gate(0, static_cast<int64_t>(i), x, h));
    reset[i] = Apply(0, Gate(1, static_cast<int64_t>(i), x, h));
    gated[i] = reset[i] * h[i];
  }
  for (size_t i = 0; i < n; ++i) {
    const int64_t row = 2 * hidden + static_cast<int64_t>(i);
    const double state = linear_before_reset ? reset[i] * FromState(row, h) : FromState(row, gated.data());
    next[i] = (1 - update[i]) * Apply(1, FromInput(row, x) + state) + update[i] * h[i];
  }
  std::copy(next.begin(), next.end(), h);
}

void RnnCell::StepLstm(const double* x, double* h, double* c) const {
  std::vector<double> next(static_cast<size_t>(hidden));
  for (int64_t i = 0; i < hidden; ++i) {
    const double input = Apply(0, Gate(0, i, x, h) + p[i] * c[i]);
    const double forget = input_forget ? 1 - input : Apply(0, Gate(2, i, x, h) + p[2 * hidden + i] * c[i]);
    const double candidate = Apply(1, Gate(3, i, x, h));
    c[i] = forget * c[i] + input * candidate;
    const double output = Apply(0, Gate(1, i, x, h) + p[hidden + i] * c[i]);
    next[static_cast<size_t>(i)] = output * functions[2](c[i]);
  }
  std::copy(next.begin(), next.end(), h);
}

void RnnCell::Step(const double* x, double* h, double* c) const {
  if (kind == RnnKind::kRnn)
    StepRnn(x, h);
  else if (kind == RnnKind::kGru)
    StepGru(x, h);
  else
    StepLstm(x, h, c);
}

}  // namespace tern
