// Short forms for ops that many converters emit.
#pragma once
#include "import/caffe/converter.h"

namespace tern::caffe {

inline Value* Unary(Layer& n, const char* kind, Value* x) { return n.b.Op("Unary", {x}, {{"kind", kind}}); }
inline Value* Binary(Layer& n, const char* kind, Value* a, Value* b) {
  return n.b.Op("Binary", {a, b}, {{"kind", kind}});
}
inline Value* Number(Layer& n, double value) { return n.b.Scalar(DType::kF32, value); }
// x * factor + term
inline Value* Affine(Layer& n, Value* x, double factor, double term) {
  if (factor == 1 && term == 0) return x;
  return n.b.Op("Activation", {x}, {{"kind", "affine"}, {"alpha", factor}, {"beta", term}});
}
inline Value* CastTo(Layer& n, Value* x, DType to) { return n.b.Op("Cast", {x}, {{"to", to}}); }
inline Value* Reduced(Layer& n, const char* kind, Value* x, const Dims& axes, bool keep_dims = true) {
  return n.b.Op("Reduce", {x, n.b.Ints(axes)}, {{"kind", kind}, {"keep_dims", keep_dims}});
}
// The elements of x with new dims; 0 copies a dim, -1 is inferred.
inline Value* Reshaped(Layer& n, Value* x, const Dims& dims) {
  return n.b.Op("Reshape", {x, n.b.Ints(dims)});
}
// Elements [start, end) along an axis.
inline Value* Sliced(Layer& n, Value* x, int64_t axis, int64_t start, int64_t end) {
  return n.b.Op("Slice", {x, n.b.Ints({start}), n.b.Ints({end}), n.b.Ints({axis})});
}
// Returns a copy of x, for a layer whose top equals its bottom. The top must be another value, because each
// value has only one name.
inline Value* Copied(Layer& n, Value* x) { return n.b.Op("Identity", {x}); }

}  // namespace tern::caffe
