// Short names for ops that many converters emit.
#pragma once
#include <vector>

#include "import/tflite/graph_importer.h"

namespace tern::tflite {

inline Value* Binary(Builder& b, const char* kind, Value* x, Value* y) {
  return b.Op("Binary", {x, y}, {{"kind", kind}});
}
inline Value* Unary(Builder& b, const char* kind, Value* x) { return b.Op("Unary", {x}, {{"kind", kind}}); }
inline Value* CastTo(Builder& b, Value* x, DType to) {
  return x->type.dtype == to ? x : b.Op("Cast", {x}, {{"to", to}});
}
inline Value* ScalarLike(Builder& b, const Value* x, double v) { return b.Scalar(x->type.dtype, v); }
inline Value* Reshaped(Builder& b, Value* x, const std::vector<int64_t>& dims) {
  return b.Op("Reshape", {x, b.Ints(dims)});
}
inline Value* Unsqueezed(Builder& b, Value* x, const std::vector<int64_t>& axes) {
  return b.Op("Unsqueeze", {x, b.Ints(axes)});
}
inline Value* Squeezed(Builder& b, Value* x, const std::vector<int64_t>& axes) {
  return b.Op("Squeeze", {x, b.Ints(axes)});
}
inline Value* Joined(Builder& b, const std::vector<Value*>& parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : b.Op("Concat", parts, {{"axis", axis}});
}
inline Value* Reduced(Builder& b, const char* kind, Value* x, const std::vector<int64_t>& axes,
                      bool keep_dims) {
  return b.Op("Reduce", {x, b.Ints(axes)}, {{"kind", kind}, {"keep_dims", keep_dims}});
}
// x[begin:end:step] along one axis.
inline Value* Sliced(Builder& b, Value* x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1) {
  return b.Op("Slice", {x, b.Ints({begin}), b.Ints({end}), b.Ints({axis}), b.Ints({step})});
}
// Casts integers to i64, which ops require for shapes and indices.
inline Value* Longs64(Builder& b, Value* x) { return CastTo(b, x, DType::kI64); }
// The dims of x as i64.
inline Value* ShapeOf(Builder& b, Value* x) { return b.Op("Shape", {x}); }
inline Value* DimOf(Builder& b, Value* x, int64_t axis) {
  return b.Op("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
}
inline Value* Flat(Builder& b, Value* x) { return Reshaped(b, x, {-1}); }

// Returns x with leading dims of size 1 so that it has `rank` dims.
inline Value* WithRank(Builder& b, Value* x, int rank) {
  const int have = x->type.shape.rank();
  if (have < 0 || have >= rank) return x;
  std::vector<int64_t> axes;
  for (int i = 0; i < rank - have; ++i) axes.push_back(i);
  return Unsqueezed(b, x, axes);
}

// The axis of [N, C, H, W] that corresponds to an axis of [N, H, W, C].
inline int64_t AxisIn(Layout layout, int64_t axis) {
  if (layout == Layout::kLast) return axis;
  return axis == 0 ? 0 : axis == 3 ? 1 : axis + 1;
}

// Fails if the axis is outside [-rank, rank). Returns the axis counted from the start.
inline Result<int64_t> AxisOf(const LiteNode& n, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return n.Bad("axis ", axis, " of a tensor with ", rank, " dims");
  return axis < 0 ? axis + rank : axis;
}

}  // namespace tern::tflite
