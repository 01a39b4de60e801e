// Converts operators that change the dims of a tensor, and those that read them.
#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

// The new dims are input 1. Old files have them only in the options. A 0 is a dim of size 0 in LiteRT, which
// matters only for tensors without elements.
Status Reshape(LiteNode& n) {
  Value* shape = nullptr;
  const auto* dims = n.Options<fb::ReshapeOptions>().new_shape();
  if (n.Has(1) && n.RankOf(1) == 1)
    shape = Longs64(n.b, n.In(1));
  else if (dims)
    shape = n.b.Ints(dims->size() == 1 && dims->Get(0) == 0 ? std::vector<int64_t>{} : LongsOf(dims));
  else
    shape = n.b.Ints(n.InfoOut(0).dims);
  n.Out(0, n.b.Op("Reshape", {n.In(0), shape}, {{"allow_zero", true}}));
  return {};
}

Status Squeeze(LiteNode& n) {
  const auto* dims = n.Options<fb::SqueezeOptions>().squeeze_dims();
  Value* x = n.In(0);
  if (dims && dims->size() > 0)
    n.Out(0, Squeezed(n.b, x, LongsOf(dims)));
  else
    n.Out(0, n.b.Op("Squeeze", {x}));
  return {};
}

Status ExpandDims(LiteNode& n) {
  const auto axis = n.Longs(1);
  if (!axis || axis->size() != 1) return n.NotYet("an axis that is not constant");
  n.Out(0, Unsqueezed(n.b, n.In(0), *axis));
  return {};
}

Status Transpose(LiteNode& n) {
  const auto perm = n.Longs(1);
  if (!perm) return n.NotYet("a permutation that is not constant");
  std::vector<int64_t> order = *perm;
  for (int64_t& p : order) {
    TERN_ASSIGN(p, AxisOf(n, p, static_cast<int>(order.size())));
  }
  if (order == kToFirst && n.LayoutOf(0) == Layout::kFirst)
    n.Out(0, n.In(0, Layout::kFirst));
  else if (order == kToLast)
    n.Out(0, n.In(0), Layout::kFirst);  // the input is the channels-first form of the result
  else
    n.Out(0, Transposed(n.b, n.In(0), order));
  return {};
}

Status ShapeOp(LiteNode& n) {
  n.Out(0, ShapeOf(n.b, n.In(0)));
  return {};
}

Status Rank(LiteNode& n) {
  const int rank = n.RankOf(0);
  if (rank < 0) return n.NotYet("an input of unknown rank");
  n.Out(0, n.b.Scalar(DType::kI32, rank));
  return {};
}

Status Fill(LiteNode& n) {
  Value* value = Reshaped(n.b, n.In(1), {});
  n.Out(0, n.b.Op("Expand", {value, Longs64(n.b, n.In(0))}));
  return {};
}

Status BroadcastTo(LiteNode& n) {
  n.Out(0, n.b.Op("Expand", {n.In(0), Longs64(n.b, n.In(1))}));
  return {};
}

// Returns the shape to which tensors of the two given shapes broadcast.
Status BroadcastArgs(LiteNode& n) {
  Builder& b = n.b;
  Value *s = Longs64(b, n.In(0)), *t = Longs64(b, n.In(1));
  const Shape &left = s->type.shape, &right = t->type.shape;
  if (left.rank() != 1 || right.rank() != 1 || !left[0].known() || !right[0].known())
    return n.NotYet("shapes of unknown rank");
  const int64_t rank = std::max(left[0].value(), right[0].value());
  const auto padded = [&](Value* v) {
    const int64_t missing = rank - v->type.shape[0].value();
    return missing ? Joined(b, {b.Ints(std::vector<int64_t>(static_cast<size_t>(missing), 1)), v}, 0) : v;
  };
  s = padded(s), t = padded(t);
  Value* one = Binary(b, "equal", s, b.Ints({1}));
  n.Out(0, b.Op("Where", {one, t, s}));
  return {};
}

Status Range(LiteNode& n) {
  const auto scalar = [&](int i) { return Reshaped(n.b, n.In(i), {}); };
  n.Out(0, n.b.Op("Range", {scalar(0), scalar(1), scalar(2)}));
  return {};
}

Status Tile(LiteNode& n) {
  n.Out(0, n.b.Op("Tile", {n.In(0), Longs64(n.b, n.In(1))}));
  return {};
}

// Reads the bits as another type. As in Tern's BitCast, the last dim changes if the width of the type does.
Status BitCastOp(LiteNode& n) {
  n.Out(0, n.b.Op("BitCast", {n.In(0)}, {{"to", n.InfoOut(0).dtype}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(shape) {
  table.Add("RESHAPE", 1, Reshape);
  table.Add("SQUEEZE", 1, Squeeze);
  table.Add("EXPAND_DIMS", 2, ExpandDims);
  table.Add("TRANSPOSE", 2, Transpose);
  table.Add("SHAPE", 1, ShapeOp);
  table.Add("RANK", 1, Rank);
  table.Add("FILL", 2, Fill);
  table.Add("BROADCAST_TO", 2, BroadcastTo);
  table.Add("BROADCAST_ARGS", 2, BroadcastArgs);
  table.Add("RANGE", 3, Range);
  table.Add("TILE", 2, Tile);
  table.Add("BITCAST", 1, BitCastOp);
}

}  // namespace tern::tflite
