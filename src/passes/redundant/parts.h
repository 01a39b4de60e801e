// Reads Slices and Splits along one axis, and emits Slices.
#pragma once
#include <optional>
#include <vector>

#include "passes/rewrite/rewrite.h"

namespace tern {

struct SliceAxis {
  int axis = 0;
  int64_t start = 0, end = 0, step = 1;
};
constexpr int64_t kToTheEnd = INT64_MAX;
constexpr int64_t kFarBound = INT32_MAX;  // an end of at least this value means the end of the axis

// Returns the axes of a Slice with constant bounds. No axis is negative. Returns nullopt for other Slices.
std::optional<std::vector<SliceAxis>> ReadSlice(const Node& slice);
Value* EmitSlice(Rewrite& rewrite, Value* x, const std::vector<SliceAxis>& axes);

// Elements [start, end) of x along an axis.
struct Part {
  Value* x = nullptr;
  int axis = 0;
  int64_t start = 0, end = 0;
  bool CoversAll() const;  // true if the part is all of x
};
// If v is made by a Slice along one axis with step 1, or by a Split, returns v as a part of a tensor. Returns
// nullopt for other values, for an empty Slice, and if sizes are not known.
std::optional<Part> ReadPart(const Value* v);

// Returns the sizes of the values along `axis`, or nullopt if a size is not known.
std::optional<std::vector<int64_t>> SizesAlong(const std::vector<Value*>& values, int axis);

}  // namespace tern
