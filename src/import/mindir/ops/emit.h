// Short functions that emit the ops that converters use most.
#pragma once
#include "import/mindir/converter.h"

namespace tern::mindir {

class Emit {
 public:
  explicit Emit(MindNode& node) : n(node), b(node.b) {}
  MindNode& n;
  Builder& b;

  Value* Binary(const char* kind, Value* x, Value* y) { return b.Op("Binary", {x, y}, {{"kind", kind}}); }
  Value* Add(Value* x, Value* y) { return Binary("add", x, y); }
  Value* Sub(Value* x, Value* y) { return Binary("sub", x, y); }
  Value* Mul(Value* x, Value* y) { return Binary("mul", x, y); }
  Value* Div(Value* x, Value* y) { return Binary("div", x, y); }
  Value* Unary(const char* kind, Value* x) { return b.Op("Unary", {x}, {{"kind", kind}}); }
  Value* Not(Value* x) { return Unary("not", x); }
  Value* Cast(Value* x, DType to) { return x->type.dtype == to ? x : b.Op("Cast", {x}, {{"to", to}}); }
  // Returns a scalar of x's data type.
  Value* Like(Value* x, double v) { return b.Scalar(NumberType(x->type.dtype), v); }
  // Returns the type. Reports an error if constants cannot have it, for example because an earlier error left
  // it unknown.
  DType NumberType(DType t) {
    if (IsNumeric(t) || t == DType::kBool) return t;
    b.Fail(n.NotYet("a constant of type ", DTypeName(t)));
    return DType::kF32;
  }
  Value* Long(int64_t v) {
    Tensor t(DType::kI64, {});
    t.data<int64_t>()[0] = v;
    return b.Const(std::move(t));
  }
  Value* Where(Value* condition, Value* x, Value* y) { return b.Op("Where", {condition, x, y}); }
  Value* Transpose(Value* x, std::vector<int64_t> perm) {
    return b.Op("Transpose", {x}, {{"perm", std::move(perm)}});
  }
  // A 0 in `dims` is a dim of size 0.
  Value* Reshape(Value* x, const std::vector<int64_t>& dims) { return ReshapeTo(x, b.Ints(dims)); }
  Value* ReshapeTo(Value* x, Value* dims) { return b.Op("Reshape", {x, dims}, {{"allow_zero", true}}); }
  Value* Unsqueeze(Value* x, const std::vector<int64_t>& axes) {
    return b.Op("Unsqueeze", {x, b.Ints(axes)});
  }
  Value* Squeeze(Value* x, const std::vector<int64_t>& axes) { return b.Op("Squeeze", {x, b.Ints(axes)}); }
  Value* Concat(const std::vector<Value*>& parts, int64_t axis) {
    return b.Op("Concat", parts, {{"axis", axis}});
  }
  Value* Gather(Value* x, Value* indices, int64_t axis = 0) {
    return b.Op("Gather", {x, indices}, {{"axis", axis}});
  }
  Value* ShapeOf(Value* x) { return b.Op("Shape", {x}); }
  // Returns the size of an axis, which must not be -1, as i64[1].
  Value* SizeOf(Value* x, int64_t axis) {
    if (axis == INT64_MAX) b.Fail(n.Bad("axis ", axis));
    return b.Op("Shape", {x}, {{"start", axis}, {"end", axis == INT64_MAX ? axis : axis + 1}});
  }
  Value* Expand(Value* x, Value* shape) { return b.Op("Expand", {x, shape}); }
  // Returns the elements [start, end) of x along an axis.
  Value* Slice(Value* x, int64_t start, int64_t end, int64_t axis, int64_t step = 1) {
    return b.Op("Slice", {x, b.Ints({start}), b.Ints({end}), b.Ints({axis}), b.Ints({step})});
  }
  Value* Reduce(const char* kind, Value* x, const std::vector<int64_t>& axes, bool keep) {
    return b.Op("Reduce", {x, b.Ints(axes)}, {{"kind", kind}, {"keep_dims", keep}});
  }
  Value* Fill(Value* shape, DType dtype, double value) {
    return b.Op("Fill", {shape}, {{"value", Tensor::Of(NumberType(dtype), {1}, {value})}});
  }
};

// Fails if input i is absent, if its element type is unknown, or if `types` does not contain this type.
inline Status Require(const MindNode& n, int i, DTypeSet types = kNumbers) {
  if (!n.Has(i)) return n.Bad("input ", i, " is missing");
  const DType t = n.In(i)->type.dtype;
  if (t == DType::kInvalid) return n.NotYet("the element type of input ", i, " is not known");
  if (!(types & SetOf(t)))
    return n.Bad("input ", i, " must be ", tern::Describe(types), ", got ", n.In(i)->type.ToString());
  return {};
}

// Fails if the rank of input i is unknown or not in [low, high].
inline Status RequireRank(const MindNode& n, int i, int low, int high = 64) {
  const int rank = n.RankOf(i);
  if (rank < 0) return n.NotYet("the rank of input ", i, " is not known");
  if (rank >= low && rank <= high) return {};
  return n.Bad("input ", i, " has rank ", rank, ", but must have ", low,
               low == high ? "" : StrCat(" to ", high));
}

// ChannelsFirst transposes [N, spatial…, C] to [N, C, spatial…]. ChannelsLast does the reverse. `x` must have
// a known rank of at least 2.
inline Value* ChannelsFirst(Emit& e, Value* x) {
  const int64_t rank = x->type.shape.rank();
  std::vector<int64_t> perm = {0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i) perm.push_back(i);
  return e.Transpose(x, perm);
}
inline Value* ChannelsLast(Emit& e, Value* x) {
  const int64_t rank = x->type.shape.rank();
  std::vector<int64_t> perm = {0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return e.Transpose(x, perm);
}

}  // namespace tern::mindir
