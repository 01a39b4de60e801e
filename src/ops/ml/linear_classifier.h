// LinearClassifier: evaluates one linear function per class. Returns the class with the largest score, and
// the scores.
#pragma once
#include <algorithm>

#include "ops/ml/labels.h"
#include "ops/ml/post_transform.h"

namespace tern {

struct LinearClassifier {
  Labels labels;
  std::vector<float> coefficients, intercepts;
  PostTransform transform = PostTransform::kNone;
  template <class V> void Visit(V& v) {
    labels.Visit(v);
    v("coefficients", coefficients,
      "the coefficients of the linear functions: one row per function, one column per feature");
    v("intercepts", intercepts,
      "one per row of coefficients; empty means zeros. With one row and two classes, a positive score selects the second class");
    v.Enum("transform", transform, PostTransformNames(), "the function applied to each row of scores");
  }
};

// Sizes derived from the attributes. `rows` is the number of linear functions, `width` is the number of
// features.
struct LinearLayout {
  int64_t classes = 0, rows = 0, width = 0;
  bool binary() const { return rows == 1 && classes == 2; }
};

inline Result<LinearLayout> LayoutOf(const LinearClassifier& op) {
  TERN_TRY(CheckLabels(op.labels));
  LinearLayout l;
  l.classes = op.labels.count();
  l.rows = op.intercepts.empty() ? l.classes : static_cast<int64_t>(op.intercepts.size());
  if (l.rows != l.classes && !l.binary())
    return InvalidModel(l.rows, " rows of coefficients for ", l.classes, " labels");
  const auto count = static_cast<int64_t>(op.coefficients.size());
  if (count % l.rows) return InvalidModel(count, " coefficients for ", l.rows, " linear functions");
  if (l.binary() && op.transform == PostTransform::kProbit)
    return Unsupported("probit with one row of coefficients for two labels");
  l.width = count / l.rows;
  return l;
}

// Returns the index of the class of one row of x. On entry, `row` contains the values of the linear
// functions. On return, it contains the scores. `row` must have capacity for two scores.
inline int64_t FinishRow(const LinearClassifier& op, const LinearLayout& l, double* row) {
  const int64_t winner = l.binary() ? row[0] > 0 : std::max_element(row, row + l.rows) - row;
  FinishScores(op.transform, l.binary() ? SecondClass::kComplement : SecondClass::kNone, row,
               static_cast<size_t>(l.rows));
  return winner;
}

}  // namespace tern
