#include "ops/ml/svm_classifier.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/ml/forest.h"

namespace tern {
namespace {

constexpr int64_t kMaxClasses = 65535;

Status CheckPairwise(const SVMClassifier& op, const SvmLayout& l) {
  if (static_cast<int64_t>(op.per_class.size()) != l.classes)
    return InvalidModel(op.per_class.size(), " counts of support vectors for ", l.classes, " classes");
  if (static_cast<int64_t>(op.coefficients.size()) / l.vectors < l.classes - 1)
    return InvalidModel(op.coefficients.size(), " coefficients for ", l.vectors, " support vectors of ",
                        l.classes, " classes");
  if (static_cast<int64_t>(op.rho.size()) < l.pairs)
    return InvalidModel(op.rho.size(), " entries of rho for ", l.pairs, " pairs of classes");
  if (!op.prob_a.empty() && static_cast<int64_t>(op.prob_a.size()) < l.pairs)
    return InvalidModel(op.prob_a.size(), " entries of prob_a for ", l.pairs, " pairs of classes");
  return {};
}

}  // namespace

Result<SvmLayout> LayoutOf(const SVMClassifier& op) {
  TERN_TRY(CheckLabels(op.labels));
  SvmLayout l;
  l.classes = op.labels.count();
  if (l.classes > kMaxClasses) return InvalidModel(l.classes, " classes are more than ", kMaxClasses);
  l.pairs = l.classes * (l.classes - 1) / 2;
  for (int64_t n : op.per_class) {
    if (n < 0 || n > static_cast<int64_t>(op.vectors.size()))
      return InvalidModel("a class cannot have ", n, " support vectors: the attribute vectors has ",
                          op.vectors.size(), " numbers");
    l.start.push_back(l.vectors);
    l.vectors += n;
  }
  l.start.push_back(l.vectors);
  l.pairwise = l.vectors > 0;
  if (op.rho.empty()) return InvalidModel("rho is missing");
  if (op.prob_a.size() != op.prob_b.size())
    return InvalidModel("prob_a has ", op.prob_a.size(), " entries, but prob_b has ", op.prob_b.size());
  if (!l.pairwise) {
    l.width = static_cast<int64_t>(op.coefficients.size()) / l.classes;
    if (l.width == 0)
      return InvalidModel(op.coefficients.size(), " coefficients for ", l.classes, " classes");
    return l;
  }
  if (l.vectors > static_cast<int64_t>(op.vectors.size()))
    return InvalidModel(op.vectors.size(), " numbers do not form ", l.vectors, " support vectors");
  l.width = static_cast<int64_t>(op.vectors.size()) / l.vectors;
  TERN_TRY(CheckPairwise(op, l));
  return l;
}

int64_t ScoreCount(const SVMClassifier& op, const SvmLayout& l) {
  if (!l.pairwise || !op.prob_a.empty()) return l.classes;
  return l.classes > 2 ? l.pairs : 2;
}

int64_t RowSize(const SvmLayout& l) { return std::max<int64_t>({l.pairwise ? l.pairs : 0, l.classes, 2}); }
int64_t WorkSize(const SVMClassifier& op, const SvmLayout& l) {
  return op.prob_a.empty() ? l.classes : 2 * l.classes * l.classes + 2 * l.classes;
}

namespace {

// Computes class probabilities from pairwise probabilities, by the second method of Wu, Lin and Weng (2004),
// as in libsvm. On entry, scores contains one score per pair of classes. On return, it contains one
// probability per class.
void CoupleProbabilities(const SVMClassifier& op, size_t n, double* scores, double* work) {
  constexpr double kClose = 1e-7;
  constexpr int kMaxIterations = 100;
  double *r = work, *q = r + n * n, *p = q + n * n, *qp = p + n;
  std::fill(work, p, 0.0);
  std::fill(p, p + n, 1.0 / static_cast<double>(n));
  size_t pair = 0;
  for (size_t i = 0; i + 1 < n; ++i)
    for (size_t j = i + 1; j < n; ++j, ++pair) {
      const double score = scores[pair] * static_cast<double>(op.prob_a[pair]);
      r[i * n + j] =
          std::clamp(1 - LogisticOf(score + static_cast<double>(op.prob_b[pair])), kClose, 1 - kClose);
      r[j * n + i] = 1 - r[i * n + j];
    }
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      q[i * n + i] += r[j * n + i] * r[j * n + i];
      q[i * n + j] = -r[j * n + i] * r[i * n + j];
    }
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    double pqp = 0, worst = 0;
    for (size_t i = 0; i < n; ++i) {
      qp[i] = std::inner_product(p, p + n, q + i * n, 0.0);
      pqp += p[i] * qp[i];
    }
    for (size_t i = 0; i < n; ++i) worst = std::max(worst, std::fabs(qp[i] - pqp));
    if (worst < 0.005 / static_cast<double>(n)) break;
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
  std::copy(p, p + n, scores);
}

// Returns the class with the most votes. If several classes have the most votes, it returns the first of
// them. A positive score of a pair i < j is a vote for i. Any other score is a vote for j.
int64_t MostVotes(const SvmLayout& l, const double* scores, double* votes) {
  std::fill(votes, votes + l.classes, 0.0);
  size_t pair = 0;
  for (int64_t i = 0; i < l.classes - 1; ++i)
    for (int64_t j = i + 1; j < l.classes; ++j, ++pair) ++votes[scores[pair] > 0 ? i : j];
  return std::max_element(votes, votes + l.classes) - votes;
}

// Returns the class that a linear model selects, usually the class with the larger score. A model with two
// classes and without probabilities differs: the second class wins if the larger score is above 0. If no
// coefficient is negative, the larger score must be at least 0.5 instead.
int64_t LinearWinner(const SVMClassifier& op, const SvmLayout& l, const double* scores) {
  const int64_t top = std::max_element(scores, scores + l.classes) - scores;
  if (l.classes != 2 || !op.prob_a.empty()) return top;
  const bool positive =
      std::all_of(op.coefficients.begin(), op.coefficients.end(), [](float v) { return v >= 0; });
  return (positive ? scores[top] >= 0.5 : scores[top] > 0) ? 1 : top;
}

Status Infer(const SVMClassifier& op, InferContext& c) {
  TERN_ASSIGN(const SvmLayout l, LayoutOf(op));
  TERN_ASSIGN(Dim rows, RowCount(c, l.width));
  c.Out("label", op.labels.type(), Shape({rows}));
  c.Out("scores", DType::kF32, Shape({rows, ScoreCount(op, l)}));
  return {};
}

void RowScores(const SVMClassifier& op, const SvmLayout& l, const double* x, double* scores) {
  if (!l.pairwise) {
    for (int64_t k = 0; k < l.classes; ++k) {
      scores[k] = op.rho[0];
      for (int64_t i = 0; i < l.width; ++i)
        scores[k] += op.coefficients[static_cast<size_t>(k * l.width + i)] * x[i];
    }
    return;
  }
  std::vector<double> similarity;
  for (int64_t s = 0; s < l.vectors; ++s)
    similarity.push_back(SimilarityOf(op, x, op.vectors.data() + s * l.width, l.width));
  const auto part = [&](int64_t row, int64_t k) {
    double sum = 0;
    for (int64_t s = l.start[static_cast<size_t>(k)]; s < l.start[static_cast<size_t>(k) + 1]; ++s)
      sum += op.coefficients[static_cast<size_t>(row * l.vectors + s)] * similarity[static_cast<size_t>(s)];
    return sum;
  };
  PairScores(op, l, part, scores);
}

Status Reference(const SVMClassifier& op, EvalContext& c) {
  TERN_ASSIGN(const SvmLayout l, LayoutOf(op));
  TERN_ASSIGN(const Rows x, RowsOf(c.In("x")));
  if (x.width != l.width) return InvalidArgument("x has ", x.width, " features, but the model has ", l.width);
  const int64_t count = ScoreCount(op, l);
  std::vector<int64_t> winners;
  std::vector<double> all, scores(static_cast<size_t>(RowSize(l))),
      work(static_cast<size_t>(WorkSize(op, l)));
  for (int64_t r = 0; r < x.count; ++r) {
    RowScores(op, l, x.Row(r), scores.data());
    winners.push_back(FinishRow(op, l, scores.data(), work.data()));
    all.insert(all.end(), scores.begin(), scores.begin() + count);
  }
  WriteLabels(op.labels, winners, c.Out("label", {x.count}));
  c.Out("scores", {x.count, count}, all);
  return {};
}

}  // namespace

int64_t FinishRow(const SVMClassifier& op, const SvmLayout& l, double* scores, double* work) {
  const int64_t winner = l.pairwise ? MostVotes(l, scores, work) : LinearWinner(op, l, scores);
  auto count = static_cast<size_t>(l.pairwise ? l.pairs : l.classes);
  if (l.pairwise && !op.prob_a.empty()) {
    count = static_cast<size_t>(l.classes);
    CoupleProbabilities(op, count, scores, work);
  }
  const SecondClass second =
      op.transform == PostTransform::kNone ? SecondClass::kOpposite : SecondClass::kComplement;
  count = FinishScores(op.transform, l.pairwise ? second : SecondClass::kNone, scores, count);
  const auto wanted = static_cast<size_t>(ScoreCount(op, l));
  if (count < wanted) std::fill(scores + count, scores + wanted, 0.0);
  return winner;
}

TERN_OP(SVMClassifier) {
  return OpDef::Of<SVMClassifier>(
             "the class of each row of x by its similarity to support vectors, and the scores")
      .In("x", kFloats | kIndices)
      .Out("label", SetOf(DType::kI64) | kStrings)
      .OptOut("scores", SetOf(DType::kF32))
      .Flops(No{"depends on the model in the attributes"})
      .Batch(No{"rows are small compared with the model in the attributes"})
      .Axes(No{"the axes must be rows and features, in this order"})
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
