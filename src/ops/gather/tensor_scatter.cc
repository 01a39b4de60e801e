// TensorScatter: writes an update into a cache. Each sample of the batch has its own start position.
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

enum class ScatterMode { kLinear, kCircular };

struct TensorScatter {
  int64_t axis = -2;
  ScatterMode mode = ScatterMode::kLinear;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the sequence axis; must not be 0, the batch axis");
    v.Enum("mode", mode, {"linear", "circular"},
           "circular continues at position 0 when it reaches the end of the axis");
  }
};

Status CheckUpdateDims(const Shape& cache, const Shape& update, int axis) {
  if (axis == 0) return InvalidModel("axis is 0, but axis 0 is the batch");
  if (cache.rank() != update.rank())
    return InvalidModel("cache has rank ", cache.rank(), ", but update has rank ", update.rank());
  for (int i = 0; i < cache.rank(); ++i) {
    if (!cache[i].known() || !update[i].known()) continue;
    const int64_t c = cache[i].value(), u = update[i].value();
    if (i == axis ? u > c : u != c)
      return InvalidModel("cache.dim[", i, "]=", c, ", but update.dim[", i, "]=", u);
  }
  return {};
}

Status Infer(const TensorScatter& op, InferContext& c) {
  const Shape &cache = c.ShapeOf("cache"), &update = c.ShapeOf("update"),
              &starts = c.ShapeOf("write_indices");
  if (cache.ranked && update.ranked) {
    TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, cache.rank()));
    TERN_TRY(CheckUpdateDims(cache, update, axis));
  }
  if (starts.ranked && starts.rank() != 1)
    return InvalidModel("write_indices must have rank 1, got rank ", starts.rank());
  if (starts.ranked && cache.rank() > 0 && starts[0].known() && cache[0].known() && starts[0] != cache[0])
    return InvalidModel(starts[0].value(), " write_indices for a batch of ", cache[0].value());
  c.Out("present", c.In("cache"));
  return {};
}

Status Reference(const TensorScatter& op, EvalContext& c) {
  const Tensor &cache = c.In("cache"), &update = c.In("update");
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, cache.rank()));
  const int64_t batch = cache.dim(0), capacity = cache.dim(axis), length = update.dim(axis);
  const auto starts =
      c.Has("write_indices") ? c.Longs("write_indices") : std::vector<int64_t>(static_cast<size_t>(batch), 0);
  const int64_t middle = CountBetween(cache.dims(), 1, axis),
                inner = CountBetween(cache.dims(), axis + 1, cache.rank());
  Tensor y = cache.Clone();
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t start = starts[static_cast<size_t>(b)];
    if (start < 0 || start > capacity || (op.mode == ScatterMode::kLinear && start + length > capacity))
      return InvalidArgument("write_indices[", b, "]=", start, " with an update of length ", length,
                             " does not fit into ", capacity, " positions along axis ", axis);
    for (int64_t m = 0; m < middle; ++m)
      for (int64_t s = 0; s < length; ++s) {
        const int64_t row = b * middle + m;
        CopyRun(update, (row * length + s) * inner, y, (row * capacity + (start + s) % capacity) * inner,
                inner);
      }
  }
  c.SetOut("present", std::move(y));
  return {};
}

}  // namespace

TERN_OP(TensorScatter) {
  return OpDef::Of<TensorScatter>(
             "a copy of cache with update written along axis, starting at write_indices[b] for sample b, or at 0 if write_indices is absent")
      .In("cache", kAnyType)
      .In("update", kAnyType)
      .OptSetting("write_indices", kIndices)
      .Out("present", kAnyType)
      .Flops(No{"copies only"})
      .Batch(kNoKernel)
      .Axes(No{"the batch must be axis 0"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
