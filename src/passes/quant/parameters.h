// Questions about scales and zero points.
#pragma once
#include "ir/graph.h"

namespace tern {

// One value, or two equal constants.
bool SameParameter(const Value* a, const Value* b);
// An absent zero point is 0.
bool SameZeroPoint(const Value* a, const Value* b);
bool AllZero(const Value* zero);
// Constant, and large and small enough that (q * scale) / scale is q again in f32.
bool OrdinaryScale(const Value* scale);
// Quantize divides in f32.
bool InSingle(const Node& quantize);
// One scale and zero point for all elements.
bool OneScale(const Node& node);

// Whether Quantize, with constant parameters, makes its highest number of everything from `high` on and its
// lowest of everything to `low`.
bool Saturates(const Node& quantize, double low, double high);

// Dequantize of a short integer to f32 with f32 scales, not in blocks; null otherwise.
const Node* PlainDequantize(const Value* v);
// Quantize of f32 to a short integer with one f32 scale.
bool IsPlainQuantize(const Node& node);

}  // namespace tern
