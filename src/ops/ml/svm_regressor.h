// SVMRegressor: a weighted sum of kernel values with support vectors.
#pragma once
#include "ops/ml/svm.h"

namespace tern {

struct SVMRegressor : SvmModel {
  int64_t supports = 0;
  bool one_class = false;
  template <class V> void Visit(V& v) {
    SvmModel::Visit(v);
    v("supports", supports, "number of support vectors; 0 means a linear model");
    v("one_class", one_class, "the result is 1 if the sum is positive, else -1");
  }
};

inline int64_t WidthOf(const SVMRegressor& op) {
  return static_cast<int64_t>(op.supports ? op.vectors.size() / static_cast<size_t>(op.supports)
                                          : op.coefficients.size());
}

}  // namespace tern
