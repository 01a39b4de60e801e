// Vectors of sentences and pictures: pooling, normalising and search.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/tensor.h"
#include "data/post/topk.h"

namespace tern::data {

enum class Pooling { kCls, kMean, kMax, kLast };
Result<Pooling> PoolingFromName(std::string_view name);  // "cls", "mean", "max", "last"

// Makes [N, D] from the states [N, T, D] of tokens. `mask` is [N, T] with 0 for padding, or null for none.
// kCls takes the first position that is not padding, kLast the last one. Fails if a row has padding only. The
// result is f32.
Result<Tensor> PoolEmbedding(const Tensor& states, const Tensor* mask, Pooling pooling);
// Divides each row of [N, D] by its Euclidean length. Rows shorter than 1e-12 are divided by 1e-12.
Result<Tensor> L2Normalise(const Tensor& vectors);
// Returns for each row of `queries` [Q, D] the k rows of `corpus` [N, D] with the largest cosine, best first.
Result<std::vector<std::vector<Ranked>>> CosineTopK(const Tensor& queries, const Tensor& corpus, int64_t k);

}  // namespace tern::data
