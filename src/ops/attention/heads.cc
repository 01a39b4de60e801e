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
    return Shape({x[0], MoreSpecific(x[1], count), x[2], x[3]});
  }
  if (x.rank() != 3)
    return InvalidModel("input '", port,
                        "' must be [batch, heads, length, size] or [batch, length, heads*size], got ",
                        c.In(port).ToString());
  if (!heads)
    return InvalidModel("input '", port, "' ", c.In(port).ToString(),
                        " needs its head count as an attribute");
  if (x[2].known() && x[2].value() % heads)
    return InvalidModel("input '", port, "' ", c.In(port).ToString(), " does not divide into ", heads,
                        " heads");
  return Shape({x[0], count, x[1], FloorDiv(x[2], heads)});
}

Result<OperandShapes> JointShapes(const InferContext& c, const char* port, int64_t q_heads,
                                  int64_t kv_heads) {
  constexpr int64_t kMaxHeads = int64_t{1} << 30;
  if (q_heads < 1 || kv_heads < 1 || q_heads > kMaxHeads || kv_heads > kMaxHeads)
    return InvalidModel("packed QKV input needs q_heads and kv_heads from 1 to ", kMaxHeads, ", got ",
                        q_heads, " and ", kv_heads);
  if (c.ShapeOf(port).ranked && c.ShapeOf(port).rank() != 3)
    return InvalidModel(
        "packed QKV input must be [batch, length, (q_heads + 2 * kv_heads) * head_size], got ",
        c.In(port).ToString());
  TERN_ASSIGN(const Shape all, SplitShape(c, port, q_heads + 2 * kv_heads));
  const Shape q({all[0], Dim(q_heads), all[2], all[3]}), kv({all[0], Dim(kv_heads), all[2], all[3]});
  return OperandShapes{q, kv, kv};
}

Result<HeadDims> SplitHeads(const char* port, const Dims& dims, int64_t heads) {
  if (dims.size() == 4 && (!heads || dims[1] == heads)) return HeadDims{dims[0], dims[1], dims[2], dims[3]};
  if (dims.size() != 3 || heads < 1 || dims[2] % heads)
    return InvalidArgument("input '", port, "' [", Join(dims, ","), "] does not divide into ", heads,
                           " heads");
  return HeadDims{dims[0], heads, dims[1], dims[2] / heads};
}

Result<Dims> SplitDims(const char* port, const Dims& dims, int64_t heads) {
  TERN_ASSIGN(const HeadDims split, SplitHeads(port, dims, heads));
  return Dims(split.begin(), split.end());
}

}  // namespace tern
