// Helpers that the recurrent layers share.
#pragma once
#include <vector>

#include "import/tflite/ops/emit.h"

namespace tern::tflite {

// How an operator stores a sequence. The converters compute on [time, batch, features].
struct Sequence {
  bool time_major = false;
  bool single = false;  // the operator has no time axis, because it computes one step
  bool reverse = false;
};
// Returns input i as [time, batch, features] of real numbers.
Value* StepsOf(LiteNode& n, int i, const Sequence& s);
// Returns the result of a layer, [time, batch, features], in the operator's order of axes. Removes the time
// axis of a single step.
Value* FromSteps(Builder& b, Value* steps, const Sequence& s);

// Emits x · wᵀ, where w is input w_index [units, features], and x is [..., features] of real numbers. If x is
// an operand of a float operator and w is quantized, the rows of x are rounded to 8 bits.
struct Products {
  LiteNode& n;
  bool hybrid, asymmetric;
  Value* Weights(int w_index) {
    return n.InfoIn(w_index).quantized ? n.RealPermuted(w_index, {0, 1}) : n.In(w_index);
  }
  // `b` may be the builder of a nested graph. `weights` is a result of Weights.
  Value* Times(Builder& b, Value* x, Value* weights) const;
};

// Rounds real numbers to the quantization of a tensor. Returns `v` if the tensor is not quantized.
Value* RoundedLike(Builder& b, GraphImporter& g, Value* v, const TensorInfo& info);
// Returns a bias as real numbers. An integer bias has its own scale.
Value* RealBias(LiteNode& n, int i);

}  // namespace tern::tflite
