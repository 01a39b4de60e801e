// Flatten: reshapes to a matrix. With axis 2, [2,3,4,5] becomes [6,20].
#include "ops/shape/axes.h"

namespace tern {
namespace {

struct Flatten {
  int64_t axis = 1;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the first dim that is merged into the columns, in [-rank, rank]");
  }
};

Result<int> SplitAt(const Flatten& op, int rank) {
  if (op.axis < -rank || op.axis > rank)
    return InvalidModel("axis ", op.axis, " is outside [", -rank, ", ", rank, "]");
  return static_cast<int>(op.axis < 0 ? op.axis + rank : op.axis);
}

Status Infer(const Flatten& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  std::vector<Dim> dims(2);
  if (x.ranked) {
    TERN_ASSIGN(const int at, SplitAt(op, x.rank()));
    dims = {ProductOf(x.dims, 0, at), ProductOf(x.dims, at, x.rank())};
  }
  c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  return {};
}

Status Reference(const Flatten& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  TERN_ASSIGN(const int at, SplitAt(op, x.rank()));
  c.SetOut("y", x.Clone().Reshaped({CountBetween(x.dims(), 0, at), CountBetween(x.dims(), at, x.rank())}));
  return {};
}

}  // namespace

TERN_OP(Flatten) {
  return OpDef::Of<Flatten>(
             "x as a matrix: the dims before axis are merged into the rows, the others into the columns")
      .In("x", kAnyType)
      .Out("y", kAnyType)
      .Traits(kPure | kView)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
