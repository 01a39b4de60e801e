#include "ops/gather/index_tuples.h"

namespace tern {

Result<std::vector<int64_t>> TupleOffsets(const Tensor& indices, const Dims& x, int batch_dims) {
  const int64_t width = indices.dim(-1);
  const Dims strides = ContiguousStrides(x);
  const int64_t batches = CountBetween(x, 0, batch_dims);
  const int64_t batch_stride = CountBetween(x, batch_dims, static_cast<int>(x.size()));
  const int64_t tuples = CountBetween(indices.dims(), 0, indices.rank() - 1);
  const int64_t per_batch = batches ? tuples / batches : 0;
  std::vector<int64_t> offsets(static_cast<size_t>(tuples));
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t offset = per_batch ? t / per_batch * batch_stride : 0;
    for (int64_t i = 0; i < width; ++i) {
      const auto axis = static_cast<size_t>(batch_dims + i);
      TERN_ASSIGN(const int64_t at,
                  NormalizeIndex(LoadLong(indices, t * width + i), x[axis], batch_dims + i));
      offset += at * strides[axis];
    }
    offsets[static_cast<size_t>(t)] = offset;
  }
  return offsets;
}

}  // namespace tern
