// Short functions that emit the ops that converters use most.
#pragma once
#include "import/common/emit.h"
#include "import/mindir/converter.h"

namespace tern::mindir {

class Emit : public import::EmitBase {
 public:
  explicit Emit(MindNode& node) : EmitBase(node.b), n(node) {}
  MindNode& n;

  // Returns a scalar of x's data type.
  Value* Like(Value* x, double v) { return b.Scalar(NumberType(x->type.dtype), v); }
  // Returns the type. Reports an error if constants cannot have it, for example because an earlier error left
  // it unknown.
  DType NumberType(DType t) {
    if (IsNumeric(t) || t == DType::kBool) return t;
    b.Fail(n.NotYet("a constant of type ", DTypeName(t)));
    return DType::kF32;
  }
  // A 0 in `dims` is a dim of size 0.
  Value* Reshape(Value* x, const std::vector<int64_t>& dims) { return ReshapeTo(x, b.Ints(dims)); }
  Value* ReshapeTo(Value* x, Value* dims) { return b.Op("Reshape", {x, dims}, {{"allow_zero", true}}); }
  Value* ShapeOf(Value* x) { return b.Op("Shape", {x}); }
  // Returns the size of an axis, which must not be -1, as i64[1].
  Value* SizeOf(Value* x, int64_t axis) {
    if (axis == INT64_MAX) b.Fail(n.Bad("axis ", axis));
    return b.Op("Shape", {x}, {{"start", axis}, {"end", axis == INT64_MAX ? axis : axis + 1}});
  }
  // Returns the elements [start, end) of x along an axis.
  Value* Slice(Value* x, int64_t start, int64_t end, int64_t axis, int64_t step = 1) {
    return b.Op("Slice", {x, b.Ints({start}), b.Ints({end}), b.Ints({axis}), b.Ints({step})});
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

}  // namespace tern::mindir
