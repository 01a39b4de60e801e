// Parts of a tensor along one axis, made by Slice or Split.
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
constexpr int64_t kFarBound = INT32_MAX;  // a bound from here on means "to the end"

// The axes of a Slice with constant bounds, counted from the front; nullopt for other Slices.
std::optional<std::vector<SliceAxis>> ReadSlice(const Node& slice);
Value* EmitSlice(Rewrite& rewrite, Value* x, const std::vector<SliceAxis>& axes);

// Elements [start, end) of x along an axis.
struct Part {
  Value* x = nullptr;
  int axis = 0;
  int64_t start = 0, end = 0;
  bool CoversAll() const;  // all of x
};
// v as a part of a tensor, taken by a Slice with one axis and step 1, or by a Split. nullopt if sizes are not
// known.
std::optional<Part> ReadPart(const Value* v);

// Sizes of values along an axis; nullopt unless all are known.
std::optional<std::vector<int64_t>> SizesAlong(const std::vector<Value*>& values, int axis);

}  // namespace tern
