// Reshape: the same elements with other dims.
#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

struct Reshape {
  bool allow_zero = false;
  template <class V> void Visit(V& v) {
    v("allow_zero", allow_zero, "a 0 in shape means a dim of size 0; otherwise it copies the dim of x");
  }
};

Dim Product(const std::vector<Dim>& dims) {
  Dim p = 1;
  for (const Dim& d : dims) p = p * d;
  return p;
}

// Returns the dims of y. In `wanted`, 0 means the dim of x at the same position (unless allow_zero), and -1
// means the dim that is inferred from the other ones.
Result<std::vector<Dim>> Target(const Reshape& op, const Shape& x, const Content& wanted) {
  std::vector<Dim> out;
  std::vector<Dim> own = x.dims, given_dims;  // dims of x and y, without the copied dims
  int inferred = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    Dim d = wanted[i];
    if (d.Is(0) && !op.allow_zero) {
      if (x.ranked && i >= x.dims.size())
        return InvalidModel("shape[", i, "] is 0 (copy), but the input has rank ", x.rank());
      d = x.ranked ? x.dims[i] : Dim::Unknown();
      if (x.ranked) own[i] = 1;
      out.push_back(d);
      continue;
    } else if (d.Is(-1)) {
      if (inferred >= 0) return InvalidModel("shape has more than one -1");
      inferred = static_cast<int>(i);
      d = 1;
    } else if (d.known() && d.value() < 0) {
      return InvalidModel("shape[", i, "] is ", d.value(), ", but must be -1 or more");
    }
    out.push_back(d);
    given_dims.push_back(d);
  }
  // -1 is inferred from the dims that are not copied, so that it is known for an empty batch: x [0,6] with
  // shape [0,-1,2] becomes [0,3,2].
  const Dim total = x.ranked ? Product(inferred < 0 ? x.dims : own) : Dim::Unknown();
  const Dim given = Product(inferred < 0 ? out : given_dims);
  if (total.known() && given.known()) {
    const bool fits =
        inferred < 0 ? total == given : given.value() != 0 && total.value() % given.value() == 0;
    if (!fits)
      return InvalidModel("cannot reshape ", total.value(), " elements ", x.ToString(), " into ",
                          Shape(wanted).ToString());
  }
  if (inferred >= 0)
    out[static_cast<size_t>(inferred)] = given.Is(0) ? Dim::Unknown() : FloorDiv(total, given);
  return out;
}

Status Infer(const Reshape& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  const Shape& s = c.ShapeOf("shape");
  if (auto wanted = c.ContentOf("shape")) {
    TERN_ASSIGN(auto dims, Target(op, x, *wanted));
    c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  } else if (s.ranked && s.rank() == 1 && s[0].known()) {
    c.Out("y", c.TypeOf("x"), Shape(std::vector<Dim>(static_cast<size_t>(s[0].value()))));
  } else {
    c.Out("y", c.TypeOf("x"), Shape());
  }
  if (auto content = c.ContentOf("x")) {
    const Shape& y = c.outputs()[0].type.shape;
    if (y.ranked && y.rank() <= 1) c.OutContent("y", *content);
  }
  return {};
}

Status Reference(const Reshape& op, EvalContext& c) {
  const auto longs = c.Longs("shape");
  TERN_ASSIGN(auto target, Target(op, Shape::Of(c.In("x").dims()), Content(longs.begin(), longs.end())));
  c.SetOut("y", c.In("x").Clone().Reshaped(Shape(target).Concrete()));
  return {};
}

}  // namespace

TERN_OP(Reshape) {
  return OpDef::Of<Reshape>("the elements of x with new dims; 0 copies a dim, -1 is inferred")
      .In("x", kAnyType)
      .Setting("shape", kIndices)
      .Out("y", kAnyType)
      .Traits(kPure | kView)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
