#include "ops/attention/heads.h"

namespace tern {

Result<Shape> SplitShape(const InferContext& c, const char* port, int64_t heads) {
  const Shape& x = c.ShapeOf(port);
  if (heads < 0) return InvalidModel("input '", port, "' cannot have ", heads, " heads");
  const Dim count = heads ? Dim(heads) : Dim::Unknown();
  if (!x.ranked) return Shape({Dim::Unknown(), count, Dim::Unknown(), Dim::Unknown()});
  if (x.rank() == 4) {
    if (Differ(x[1], count))
      return InvalidModel("input '", port, "' ", c.In(port).ToString(), " should have ", heads, " heads");
    return Shape({x[0], Better(x[1], count), x[2], x[3]});
  }
  if (x.rank() != 3)
    return InvalidModel("input '", port,
                        "' must be [batch, heads, length, size] or [batch, length, heads*size], got ",
                        c.In(port).ToString());
  if (!heads)
    return InvalidModel("input '", port, "' ", c.In(port).ToString(),
                        " needs its number of heads as an attribute");
  if (x[2].known() && x[2].value() % heads)
    return InvalidModel("input '", port, "' ", c.In(port).ToString(), " does not divide into ", heads,
                        " heads");
  return Shape({x[0], count, x[1], FloorDiv(x[2], heads)});
}

Result<Dims> SplitDims(const char* port, const Dims& dims, int64_t heads) {
  if (dims.size() == 4 && (!heads || dims[1] == heads)) return dims;
  if (dims.size() != 3 || heads < 1 || dims[2] % heads)
    return InvalidArgument("input '", port, "' [", Join(dims, ","), "] does not divide into ", heads,
                           " heads");
  return Dims{dims[0], heads, dims[1], dims[2] / heads};
}

}  // namespace tern
