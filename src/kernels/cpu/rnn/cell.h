// One step of a recurrent layer for one sample, or some elements of its state, once the products are there.
#pragma once
#include "kernels/cpu/rnn/rnn.h"

namespace tern::cpu {

class Cell {
 public:
  // functions: those of this direction; peephole: its weights or null.
  Cell(const RnnShape& s, const RnnFunction* functions, const float* peephole);

  // What a sample works on: elements [first, first + n) of its state, where everything points to the first of
  // them. x: sums of the gates, the shape's `hidden` apart; from the state too, but for a GRU's candidate,
  // which comes in `candidate`.
  struct Row {
    int64_t first = 0, n = 0;
    float* x = nullptr;
    const float* before = nullptr;  // h of the step before
    float* h = nullptr;             // that of this one
    float* c = nullptr;             // which it brings up to date
    float* y = nullptr;             // where h goes as well; or null
    const float* candidate = nullptr;
    float* gated = nullptr;
  };
  // A GRU whose candidate is a product with reset * h: gated = that.
  void Reset(const Row& row) const;
  void Finish(const Row& row) const;

 private:
  void Apply(size_t function, float* v, int64_t n) const;
  void ApplyFreely(size_t function, const float* x, float* y, int64_t n) const;
  void Gru(const Row& row) const;
  void Lstm(const Row& row) const;

  const RnnShape& s_;
  const RnnFunction* functions_;
  const float* peephole_;
  float clip_;
  bool usual_;  // the functions are those that the vector code has
};

}  // namespace tern::cpu
