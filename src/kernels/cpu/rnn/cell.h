// Computes one step of a recurrent layer after the matrix products, for one sample or for a slice of its
// state.
#pragma once
#include "kernels/cpu/rnn/rnn.h"

namespace tern::cpu {

class Cell {
 public:
  // `functions` are the activation functions of one direction. `peephole` are the peephole weights of this
  // direction, or null.
  Cell(const RnnShape& s, const RnnFunction* functions, const float* peephole);

  // Elements [first, first + n) of the state of one sample. All pointers point to element `first`. x contains
  // the pre-activations of the gates, with a stride of `hidden` between gates. A pre-activation is the sum of
  // the input product and the state product. Only the state product of a GRU's candidate is separate, in
  // `candidate`.
  struct Row {
    int64_t first = 0, n = 0;
    float* x = nullptr;
    const float* before = nullptr;  // h of the previous step
    float* h = nullptr;             // h of this step
    float* c = nullptr;             // cell state, updated in place
    float* y = nullptr;             // a second destination of h, or null
    const float* candidate = nullptr;
    float* gated = nullptr;
  };
  // Computes gated = reset * before, for a GRU that applies the reset gate before the matrix product of the
  // candidate.
  void Reset(const Row& row) const;
  void Finish(const Row& row) const;

 private:
  void Apply(size_t function, float* v, int64_t n) const;
  void ApplyUnclipped(size_t function, const float* x, float* y, int64_t n) const;
  void Gru(const Row& row) const;
  void Lstm(const Row& row) const;

  const RnnShape& s_;
  const RnnFunction* functions_;
  const float* peephole_;
  float clip_;
  bool fused_;  // the activation functions are the default ones, which CellSimd() computes
};

}  // namespace tern::cpu
