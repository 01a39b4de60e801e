// Emits products of float activations and integer weights.
#pragma once
#include "import/tflite/converter.h"

namespace tern::tflite {

// Returns the bias as real numbers, or null if it is absent. The bias of a quantized product is i32 or i64,
// in units of the product of the operands' scales, whatever scale the file states for it.
Result<Value*> QuantizedBias(LiteNode& n, int x, int w, int bias);

// Returns whether x is float and w is quantized. TensorFlow Lite then rounds x to 8 bits during the run, per
// sample.
bool IsHybrid(LiteNode& n, int x, int w);

// Rounds real numbers to 8 bits and back, with one scale for each index of the first axis. If `asymmetric` is
// true, the range is from the smallest to the largest number, with a zero point. Otherwise it is from
// -max(|x|) to max(|x|), with 127 steps on each side of 0.
Value* RoundedRows(Builder& b, Value* x, bool asymmetric);

// Emits a convolution of input 0 (float) with the dequantized filter `w` and the bias (input 2).
Result<Value*> HybridConv(LiteNode& n, Value* w, AttrList attrs);

// Emits x · wᵀ + bias, where x is float [rows, k] and `w` is input w_index, quantized [n, k]. Rounds the rows
// of x to 8 bits, except if w has scales per block.
Result<Value*> HybridProduct(LiteNode& n, Value* x, int w_index, Value* bias, bool asymmetric);

}  // namespace tern::tflite
