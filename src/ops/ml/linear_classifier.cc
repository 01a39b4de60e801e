// LinearClassifier: one linear function per class, the class with the largest score, and the scores.
#include <algorithm>

#include "ops/ml/forest.h"
#include "ops/ml/labels.h"
#include "ops/ml/post_transform.h"

namespace tern {
namespace {

struct LinearClassifier {
  Labels labels;
  std::vector<float> coefficients, intercepts;
  PostTransform transform = PostTransform::kNone;
  template <class V> void Visit(V& v) {
    labels.Visit(v);
    v("coefficients", coefficients, "of each feature, one row after the other");
    v("intercepts", intercepts,
      "one per row of coefficients; empty: zeros. One row for two classes: the second wins above zero");
    v.Enum("transform", transform, PostTransformNames(), "what the rows of scores go through");
  }
};

struct Layout {
  int64_t classes = 0, rows = 0, width = 0;
  bool binary() const { return rows == 1 && classes == 2; }
};

Result<Layout> LayoutOf(const LinearClassifier& op) {
  TERN_TRY(CheckLabels(op.labels));
  Layout l;
  l.classes = op.labels.count();
  l.rows = op.intercepts.empty() ? l.classes : static_cast<int64_t>(op.intercepts.size());
  if (l.rows != l.classes && !l.binary())
    return InvalidModel(l.rows, " rows of coefficients for ", l.classes, " labels");
  const auto count = static_cast<int64_t>(op.coefficients.size());
  if (count % l.rows) return InvalidModel(count, " coefficients for ", l.rows, " targets");
  if (l.binary() && op.transform == PostTransform::kProbit)
    return Unsupported("probit with one row of coefficients for two labels");
  l.width = count / l.rows;
  return l;
}

Status Infer(const LinearClassifier& op, InferContext& c) {
  TERN_ASSIGN(const Layout l, LayoutOf(op));
  TERN_ASSIGN(Dim rows, RowCount(c, l.width));
  c.Out("label", op.labels.type(), Shape({rows}));
  c.Out("scores", DType::kF32, Shape({rows, l.classes}));
  return {};
}

std::vector<double> ScoresOf(const LinearClassifier& op, const Layout& l, const double* x) {
  std::vector<double> scores(op.intercepts.begin(), op.intercepts.end());
  scores.resize(static_cast<size_t>(l.rows), 0.0);
  for (int64_t k = 0; k < l.rows; ++k)
    for (int64_t i = 0; i < l.width; ++i)
      scores[static_cast<size_t>(k)] +=
          static_cast<double>(op.coefficients[static_cast<size_t>(k * l.width + i)]) * x[i];
  return scores;
}

Status Reference(const LinearClassifier& op, EvalContext& c) {
  TERN_ASSIGN(const Layout l, LayoutOf(op));
  TERN_ASSIGN(const Rows x, RowsOf(c.In("x")));
  if (x.width != l.width) return InvalidArgument("x has ", x.width, " features, the model ", l.width);
  std::vector<int64_t> winners;
  std::vector<double> all;
  for (int64_t r = 0; r < x.count; ++r) {
    std::vector<double> row = ScoresOf(op, l, x.Row(r));
    winners.push_back(l.binary() ? row[0] > 0 : std::max_element(row.begin(), row.end()) - row.begin());
    FinishScores(op.transform, l.binary() ? SecondClass::kComplement : SecondClass::kNone, row);
    all.insert(all.end(), row.begin(), row.end());
  }
  WriteLabels(op.labels, winners, c.Out("label", {x.count}));
  c.Out("scores", {x.count, l.classes}, all);
  return {};
}

}  // namespace

TERN_OP(LinearClassifier) {
  return OpDef::Of<LinearClassifier>(
             "the class of each row of x by a linear function for each, and the scores")
      .In("x", kFloats | kIndices)
      .Out("label", SetOf(DType::kI64) | kStrings)
      .OptOut("scores", SetOf(DType::kF32))
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
