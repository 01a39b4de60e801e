// Predicates on scales and zero points.
#pragma once
#include "ir/graph.h"

namespace tern {

// True if a and b are the same value or equal constants.
bool SameParameter(const Value* a, const Value* b);
// Like SameParameter, for zero points. An absent zero point counts as 0.
bool SameZeroPoint(const Value* a, const Value* b);
bool AllZero(const Value* zero);
// True for an f32 constant whose elements are all in [1e-30, 1e30]. With such a scale, (q * scale) / scale
// rounds to q in f32.
bool OrdinaryScale(const Value* scale);
// True if the Quantize divides in f32.
bool InSingle(const Node& quantize);
// True if the node has one scale and zero point for all elements.
bool OneScale(const Node& node);

// True if the Quantize saturates for all inputs >= high and all inputs <= low. Scale and zero point must be
// constant.
bool Saturates(const Node& quantize, double low, double high);

// If a Dequantize from 8 or 16 bits to f32 produces v, and its f32 scales are not per block, returns the
// Dequantize. Otherwise returns null.
const Node* PlainDequantize(const Value* v);
// True for a Quantize from f32 to 8 or 16 bits that has one f32 scale and divides in f32.
bool IsPlainQuantize(const Node& node);

}  // namespace tern
