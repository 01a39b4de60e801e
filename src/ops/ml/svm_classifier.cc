// SVMClassifier: support vectors of each class, compared pair by pair; or one linear function per class.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/ml/labels.h"
#include "ops/ml/post_transform.h"
#include "ops/ml/svm.h"

namespace tern {
namespace {

constexpr int64_t kMaxClasses = 65535;

struct SVMClassifier : SvmModel {
  Labels labels;
  std::vector<int64_t> per_class;
  std::vector<float> prob_a, prob_b;
  PostTransform transform = PostTransform::kNone;
  template <class V> void Visit(V& v) {
    SvmModel::Visit(v);
    labels.Visit(v);
    v("per_class", per_class, "number of support vectors of each class; empty: a linear model");
    v("prob_a", prob_a, "slopes that turn a pair's score into a probability; empty: scores stay scores");
    v("prob_b", prob_b, "offsets that go with prob_a");
    v.Enum("transform", transform, PostTransformNames(), "what the rows of scores go through");
  }
};

struct Layout {
  int64_t classes = 0, pairs = 0, vectors = 0, width = 0;
  bool pairwise = false;
};

Result<Layout> LayoutOf(const SVMClassifier& op) {
  TERN_TRY(CheckLabels(op.labels));
  Layout l;
  l.classes = op.labels.count();
  if (l.classes > kMaxClasses) return InvalidModel(l.classes, " classes are more than ", kMaxClasses);
  l.pairs = l.classes * (l.classes - 1) / 2;
  for (int64_t n : op.per_class) {
    if (n < 0 || n > static_cast<int64_t>(op.vectors.size()))
      return InvalidModel("a class has ", n, " support vectors");
    l.vectors += n;
  }
  l.pairwise = l.vectors > 0;
  if (op.rho.empty()) return InvalidModel("rho is missing");
  if (op.prob_a.size() != op.prob_b.size())
    return InvalidModel("prob_a has ", op.prob_a.size(), " entries, prob_b ", op.prob_b.size());
  if (!l.pairwise) {
    l.width = static_cast<int64_t>(op.coefficients.size()) / l.classes;
    if (l.width == 0)
      return InvalidModel(op.coefficients.size(), " coefficients for ", l.classes, " classes");
    return l;
  }
  if (l.vectors > static_cast<int64_t>(op.vectors.size()))
    return InvalidModel(op.vectors.size(), " numbers are no ", l.vectors, " support vectors");
  l.width = static_cast<int64_t>(op.vectors.size()) / l.vectors;
  if (static_cast<int64_t>(op.per_class.size()) != l.classes)
    return InvalidModel(op.per_class.size(), " counts of support vectors for ", l.classes, " classes");
  if (static_cast<int64_t>(op.coefficients.size()) / l.vectors < l.classes - 1)
    return InvalidModel(op.coefficients.size(), " coefficients for ", l.vectors, " support vectors of ",
                        l.classes, " classes");
  if (static_cast<int64_t>(op.rho.size()) < l.pairs)
    return InvalidModel(op.rho.size(), " entries of rho for ", l.pairs, " pairs of classes");
  if (!op.prob_a.empty() && static_cast<int64_t>(op.prob_a.size()) < l.pairs)
    return InvalidModel(op.prob_a.size(), " entries of prob_a for ", l.pairs, " pairs of classes");
  return l;
}

int64_t ScoreCount(const SVMClassifier& op, const Layout& l) {
  if (!l.pairwise || !op.prob_a.empty()) return l.classes;
  return l.classes > 2 ? l.pairs : 2;
}

Status Infer(const SVMClassifier& op, InferContext& c) {
  TERN_ASSIGN(const Layout l, LayoutOf(op));
  TERN_ASSIGN(Dim rows, RowCount(c, l.width));
  c.Out("label", op.labels.type(), Shape({rows}));
  c.Out("scores", DType::kF32, Shape({rows, ScoreCount(op, l)}));
  return {};
}

// One score per pair of classes i < j; a positive one is a vote for i.
std::vector<double> PairScores(const SVMClassifier& op, const Layout& l, const double* row,
                               std::vector<int64_t>& votes) {
  std::vector<double> likeness(static_cast<size_t>(l.vectors));
  for (int64_t s = 0; s < l.vectors; ++s)
    likeness[static_cast<size_t>(s)] = KernelOf(op, row, op.vectors.data() + s * l.width, l.width);
  std::vector<int64_t> start(op.per_class.size() + 1, 0);
  std::partial_sum(op.per_class.begin(), op.per_class.end(), start.begin() + 1);
  const auto part = [&](int64_t coefficient_row, int64_t of) {
    double sum = 0;
    for (int64_t s = start[static_cast<size_t>(of)]; s < start[static_cast<size_t>(of) + 1]; ++s)
      sum += op.coefficients[static_cast<size_t>(coefficient_row * l.vectors + s)] *
             likeness[static_cast<size_t>(s)];
    return sum;
  };
  std::vector<double> scores;
  for (int64_t i = 0; i < l.classes - 1; ++i)
    for (int64_t j = i + 1; j < l.classes; ++j) {
      const double sum = part(j - 1, i) + part(i, j) + op.rho[scores.size()];
      ++votes[static_cast<size_t>(sum > 0 ? i : j)];
      scores.push_back(sum);
    }
  return scores;
}

// Class probabilities from those of the pairs, by the second method of Wu, Lin and Weng (2004), as libsvm has
// it.
std::vector<double> CoupledProbabilities(const SVMClassifier& op, int64_t classes,
                                         const std::vector<double>& scores) {
  constexpr double kClose = 1e-7;
  constexpr int kTurns = 100;
  const auto n = static_cast<size_t>(classes);
  std::vector<double> r(n * n, 0), q(n * n, 0), p(n, 1.0 / static_cast<double>(classes)), qp(n);
  size_t pair = 0;
  for (size_t i = 0; i + 1 < n; ++i)
    for (size_t j = i + 1; j < n; ++j, ++pair) {
      r[i * n + j] =
          std::clamp(1 - LogisticOf(scores[pair] * op.prob_a[pair] + op.prob_b[pair]), kClose, 1 - kClose);
      r[j * n + i] = 1 - r[i * n + j];
    }
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      q[i * n + i] += r[j * n + i] * r[j * n + i];
      q[i * n + j] = -r[j * n + i] * r[i * n + j];
    }
  for (int turn = 0; turn < kTurns; ++turn) {
    double pqp = 0, worst = 0;
    for (size_t i = 0; i < n; ++i) {
      qp[i] = std::inner_product(p.begin(), p.end(), q.begin() + static_cast<int64_t>(i * n), 0.0);
      pqp += p[i] * qp[i];
    }
    for (double v : qp) worst = std::max(worst, std::fabs(v - pqp));
    if (worst < 0.005 / static_cast<double>(classes)) break;
    for (size_t i = 0; i < n; ++i) {
      const double step = (pqp - qp[i]) / q[i * n + i], shrink = 1 + step;
      p[i] += step;
      pqp = (pqp + step * (step * q[i * n + i] + 2 * qp[i])) / shrink / shrink;
      for (size_t j = 0; j < n; ++j) {
        qp[j] = (qp[j] + step * q[i * n + j]) / shrink;
        p[j] /= shrink;
      }
    }
  }
  return p;
}

std::vector<double> LinearScores(const SVMClassifier& op, const Layout& l, const double* row) {
  std::vector<double> scores(static_cast<size_t>(l.classes), op.rho[0]);
  for (size_t k = 0; k < scores.size(); ++k)
    for (int64_t i = 0; i < l.width; ++i)
      scores[k] += op.coefficients[k * static_cast<size_t>(l.width) + static_cast<size_t>(i)] * row[i];
  return scores;
}

template <class T> int64_t Largest(const std::vector<T>& v) {
  return std::max_element(v.begin(), v.end()) - v.begin();
}

// Two classes of a linear model: the second wins once the larger score passes the threshold.
int64_t LinearWinner(const SVMClassifier& op, const std::vector<double>& scores) {
  const int64_t top = Largest(scores);
  if (scores.size() != 2 || !op.prob_a.empty()) return top;
  const bool positive =
      std::all_of(op.coefficients.begin(), op.coefficients.end(), [](float v) { return v >= 0; });
  const double best = scores[static_cast<size_t>(top)];
  return (positive ? best >= 0.5 : best > 0) ? 1 : top;
}

Status Reference(const SVMClassifier& op, EvalContext& c) {
  TERN_ASSIGN(const Layout l, LayoutOf(op));
  TERN_ASSIGN(const Rows x, RowsOf(c.In("x")));
  if (x.width != l.width) return InvalidArgument("x has ", x.width, " features, the model ", l.width);
  const SecondClass second =
      op.transform == PostTransform::kNone ? SecondClass::kOpposite : SecondClass::kComplement;
  std::vector<int64_t> winners;
  std::vector<double> all;
  for (int64_t r = 0; r < x.count; ++r) {
    std::vector<int64_t> votes(static_cast<size_t>(l.classes), 0);
    std::vector<double> row = l.pairwise ? PairScores(op, l, x.Row(r), votes) : LinearScores(op, l, x.Row(r));
    winners.push_back(l.pairwise ? Largest(votes) : LinearWinner(op, row));
    if (l.pairwise && !op.prob_a.empty()) row = CoupledProbabilities(op, l.classes, row);
    FinishScores(op.transform, l.pairwise ? second : SecondClass::kNone, row);
    row.resize(static_cast<size_t>(ScoreCount(op, l)), 0.0);
    all.insert(all.end(), row.begin(), row.end());
  }
  WriteLabels(op.labels, winners, c.Out("label", {x.count}));
  c.Out("scores", {x.count, ScoreCount(op, l)}, all);
  return {};
}

}  // namespace

TERN_OP(SVMClassifier) {
  return OpDef::Of<SVMClassifier>(
             "the class of each row of x by its likeness to support vectors, and the scores")
      .In("x", kFloats | kIndices)
      .Out("label", SetOf(DType::kI64) | kStrings)
      .OptOut("scores", SetOf(DType::kF32))
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
