// Computes one step of a recurrent layer for one sample.
#pragma once
#include <cstdint>
#include <vector>

#include "ops/rnn/activation.h"

namespace tern {

enum class RnnKind : uint8_t { kRnn, kGru, kLstm };

// Weights of one direction. w is [gates*hidden, features] and r is [gates*hidden, hidden]. b is
// [2*gates*hidden] and contains the biases of w, then those of r. p is [3*hidden] and contains the peepholes
// in the order i o f.
struct RnnCell {
  RnnKind kind;
  int64_t features, hidden;
  const double *w, *r, *b, *p;
  std::vector<RnnActivation> functions;
  double clip;  // inputs of functions 0 and 1 are clamped to [-clip, clip]; 0 means no clamping
  bool linear_before_reset, input_forget;

  // Replaces h and c (lstm only) by the next state.
  void Step(const double* x, double* h, double* c) const;

 private:
  double FromInput(int64_t row, const double* x) const;  // row of w times x, plus w's bias
  double FromState(int64_t row, const double* h) const;  // row of r times h, plus r's bias
  double Gate(int64_t gate, int64_t i, const double* x, const double* h) const;
  double Apply(size_t function, double v) const;
  int64_t GateCount() const;
  void StepRnn(const double* x, double* h) const;
  void StepGru(const double* x, double* h) const;
  void StepLstm(const double* x, double* h, double* c) const;
};

}  // namespace tern
