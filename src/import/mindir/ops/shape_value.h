// Shapes and other vectors of integers as values of the graph.
#pragma once
#include "import/mindir/ops/emit.h"

namespace tern::mindir {

// Returns input i, a tensor or a tuple of numbers, as i64[n].
inline Value* ShapeValue(MindNode& n, int i) {
  Emit e(n);
  const Item& item = n.inputs()[static_cast<size_t>(i)];
  if (const auto longs = LongsOf(item)) return n.b.Ints(*longs);
  if (!n.Has(i)) {
    n.b.Fail(n.Bad("input ", i, " must be a shape, but is ", item.Describe()));
    return n.b.Ints({});
  }
  Value* v = e.Cast(n.In(i), DType::kI64);
  return v->type.shape.rank() == 0 ? e.Reshape(v, {1}) : v;
}

// Returns element k of input i as a scalar.
inline Value* ElementOf(MindNode& n, int i, int64_t k) {
  Emit e(n);
  const Item& item = n.inputs()[static_cast<size_t>(i)];
  if (item.is(Item::Kind::kTuple) && k < static_cast<int64_t>(item.size()))
    return e.Cast(n.ValueOf(item[static_cast<size_t>(k)]), DType::kI64);
  if (!n.Has(i)) {
    n.b.Fail(n.Bad("input ", i, " must be a tuple, but is ", item.Describe()));
    return e.Long(0);
  }
  return e.Cast(e.Gather(n.In(i), e.Long(k)), DType::kI64);
}

}  // namespace tern::mindir
