// Short functions that emit the ops that converters use most.
#pragma once
#include "import/common/emit.h"
#include "import/onnx/require.h"

namespace tern::onnx {

// Emits the elementwise function `kind` of a and b.
inline Value* Binary(OnnxNode& n, const char* kind, Value* a, Value* b) {
  return n.b.Op("Binary", {a, b}, {{"kind", kind}});
}

// Emits a Cast of x, unless x has the type, or is null because of an earlier error.
inline Value* CastTo(OnnxNode& n, Value* x, DType type) {
  return !x || x->type.dtype == type ? x : n.b.Op("Cast", {x}, {{"to", type}});
}

class Emit : public import::EmitBase {
 public:
  explicit Emit(OnnxNode& node) : EmitBase(node.b), n(node) {}
  OnnxNode& n;

  Value* Reshape(Value* x, const std::vector<int64_t>& dims) { return b.Op("Reshape", {x, b.Ints(dims)}); }
  // Returns x - zero in i32. If `zero` is null, returns x itself.
  Value* Shifted(Value* x, Value* zero) {
    return zero ? Sub(Cast(x, DType::kI32), Cast(zero, DType::kI32)) : x;
  }
  // Returns the size of an axis as i64[1].
  Value* SizeOf(Value* x, int64_t axis) { return b.Op("Shape", {x}, {{"start", axis}, {"end", axis + 1}}); }
  // Returns the elements [start, end) of x along an axis. `start` and `end` are i64[1].
  Value* Slice(Value* x, Value* start, Value* end, int64_t axis) {
    return b.Op("Slice", {x, start, end, b.Ints({axis})});
  }
  // Returns 0, 1, …, count - 1. `count` is i64[1].
  Value* CountTo(Value* count) { return b.Op("Range", {Long(0), Squeeze(count, {0}), Long(1)}); }
};

}  // namespace tern::onnx
