// Predicates on scales and zero points.
#pragma once
#include "ir/graph.h"

namespace tern {

// True for the same value, or for two equal constants.
bool SameParameter(const Value* a, const Value* b);
// Like SameParameter, for zero points. An absent zero point counts as 0.
bool SameZeroPoint(const Value* a, const Value* b);
bool AllZero(const Value* zero);
// True for an f32 constant whose elements are all in [1e-30, 1e30]. Then (q * scale) / scale is exactly q in
// f32.
bool OrdinaryScale(const Value* scale);
// True if the Quantize divides in f32.
bool InSingle(const Node& quantize);
// True if the node has one scale and zero point for all elements.
bool OneScale(const Node& node);

// True if the Quantize saturates for all inputs >= high and all inputs <= low. Scale and zero point must be
// constant.
bool Saturates(const Node& quantize, double low, double high);

// The producer of v if it is a Dequantize of 8 or 16 bits to f32, with f32 scales that are not per block;
// else null.
const Node* PlainDequantize(const Value* v);
// True for a Quantize from f32 to 8 or 16 bits with one f32 scale.
bool IsPlainQuantize(const Node& node);

}  // namespace tern
