// TreeEnsemble: the votes of decision trees, aggregated per target.
#pragma once
#include <algorithm>

#include "ops/ml/forest.h"
#include "ops/ml/post_transform.h"

namespace tern {

enum class Aggregate { kAverage, kSum, kMin, kMax };

struct TreeEnsemble : Forest {
  int64_t targets = 1;
  Aggregate aggregate = Aggregate::kSum;
  std::vector<float> base;
  Tensor base_wide;
  PostTransform transform = PostTransform::kNone;
  DType to = DType::kF32;
  template <class V> void Visit(V& v) {
    Forest::Visit(v);
    v("targets", targets, "number of columns of the result");
    v.Enum("aggregate", aggregate, {"average", "sum", "min", "max"},
           "how the votes for a target are aggregated");
    v("base", base, "a number per target that is added after the aggregation; if empty, nothing is added");
    v("base_wide", base_wide, "the values of base as f64; if present, base is ignored");
    v.Enum("transform", transform, PostTransformNames(),
           "the function applied to each row; with a single target, only probit has an effect");
    v("to", to, "result type");
  }
};

inline std::vector<double> BaseOf(const TreeEnsemble& op) {
  if (op.base_wide.defined()) return ToDoubles(op.base_wide);
  return {op.base.begin(), op.base.end()};
}

// If `round_f32` is true, the sum is rounded to f32 after each vote.
inline void AddVote(Aggregate how, VoteSum& s, double v, bool round_f32) {
  if (how == Aggregate::kMin)
    s.sum = s.given ? std::min(s.sum, v) : v;
  else if (how == Aggregate::kMax)
    s.sum = s.given ? std::max(s.sum, v) : v;
  else
    s.sum = round_f32 ? static_cast<double>(static_cast<float>(s.sum + v)) : s.sum + v;
  s.given = true;
}

}  // namespace tern
