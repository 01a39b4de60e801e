// TreeEnsemble: the votes of many decision trees, put together per target.
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
    v("targets", targets, "columns of the result");
    v.Enum("aggregate", aggregate, {"average", "sum", "min", "max"},
           "how the votes for a target become one number");
    v("base", base, "added per target at the end; one number goes to a single target; else nothing");
    v("base_wide", base_wide, "the same as f64, in the place of base");
    v.Enum("transform", transform, PostTransformNames(),
           "what the rows go through; a single target knows probit only");
    v("to", to, "result type");
  }
};

inline std::vector<double> BaseOf(const TreeEnsemble& op) {
  if (op.base_wide.defined()) return ToDoubles(op.base_wide);
  return {op.base.begin(), op.base.end()};
}

// narrow: sums are rounded to f32 on the way.
inline void AddVote(Aggregate how, VoteSum& s, double v, bool narrow) {
  if (how == Aggregate::kMin)
    s.sum = s.given ? std::min(s.sum, v) : v;
  else if (how == Aggregate::kMax)
    s.sum = s.given ? std::max(s.sum, v) : v;
  else
    s.sum = narrow ? static_cast<double>(static_cast<float>(s.sum + v)) : s.sum + v;
  s.given = true;
}

}  // namespace tern
