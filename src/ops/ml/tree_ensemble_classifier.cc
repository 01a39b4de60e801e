// TreeEnsembleClassifier: decision trees that vote for classes. Two classes follow rules of their own, which
// are onnxruntime's: the specification is silent about them and models are made against that.
#include <algorithm>

#include "ops/ml/forest.h"
#include "ops/ml/labels.h"
#include "ops/ml/post_transform.h"

namespace tern {
namespace {

struct TreeEnsembleClassifier : Forest {
  Labels labels;
  std::vector<float> base;
  Tensor base_wide;
  PostTransform transform = PostTransform::kNone;
  template <class V> void Visit(V& v) {
    Forest::Visit(v);
    labels.Visit(v);
    v("base", base, "added per class at the end");
    v("base_wide", base_wide, "the same as f64, in the place of base");
    v.Enum("transform", transform, PostTransformNames(), "what the rows of scores go through");
  }
};

std::vector<double> BaseOf(const TreeEnsembleClassifier& op) {
  if (op.base_wide.defined()) return ToDoubles(op.base_wide);
  return {op.base.begin(), op.base.end()};
}

Status Check(const TreeEnsembleClassifier& op) {
  TERN_TRY(CheckLabels(op.labels));
  const auto classes = static_cast<size_t>(op.labels.count());
  if (classes == 1 && op.labels.text())
    return InvalidModel("one text label: there is no name for the other class");
  if (op.base_wide.defined() && !IsFloat(op.base_wide.dtype()))
    return InvalidModel("base_wide is ", op.base_wide.Describe());
  const size_t base = BaseOf(op).size();
  if (base && base != classes && !(classes == 2 && base == 1))
    return InvalidModel(base, " base values for ", classes, " classes");
  return CheckForest(op, op.labels.count());
}

Status Infer(const TreeEnsembleClassifier& op, InferContext& c) {
  TERN_TRY(Check(op));
  TERN_ASSIGN(Dim rows, RowCount(c, ForestWalker(op).columns()));
  c.Out("label", op.labels.type(), Shape({rows}));
  c.Out("scores", DType::kF32, Shape({rows, op.labels.count()}));
  return {};
}

struct Score {
  double sum = 0;
  bool given = false;
};

// What a row's votes come to.
struct Verdict {
  int64_t label = 0;  // the class, or for `plain` the label itself
  bool plain = false;
  std::vector<double> scores;
};

class Judge {
 public:
  explicit Judge(const TreeEnsembleClassifier& op) : op_(op), base_(BaseOf(op)) {
    if (op.vote_weight.defined()) weights_ = ToDoubles(op.vote_weight);
    narrow_ = !op.vote_weight.defined() || op.vote_weight.dtype() == DType::kF32;
    positive_ = std::all_of(weights_.begin(), weights_.end(), [](double w) { return w >= 0; });
    const auto& t = op.vote_target;
    one_sided_ = op.labels.count() == 2 && !t.empty() &&
                 std::all_of(t.begin(), t.end(), [&](int64_t v) { return v == t[0]; });
  }

  void AddLeaf(size_t leaf, std::vector<Score>& scores) const {
    for (auto v = static_cast<size_t>(op_.leaf_start[leaf]);
         v < static_cast<size_t>(op_.leaf_start[leaf + 1]); ++v) {
      Score& s = scores[static_cast<size_t>(op_.vote_target[v])];
      s.sum = narrow_ ? static_cast<double>(static_cast<float>(s.sum + weights_[v])) : s.sum + weights_[v];
      s.given = true;
    }
  }

  Verdict Decide(std::vector<Score> scores) const {
    if (scores.size() > 2) return Many(std::move(scores));
    return scores.size() == 2 ? Two(std::move(scores)) : One(scores[0]);
  }

 private:
  Verdict Many(std::vector<Score> scores) const {
    for (size_t k = 0; k < base_.size(); ++k) {
      scores[k].sum += base_[k];
      scores[k].given = true;
    }
    Verdict v;
    bool found = false;
    double best = 0;
    for (size_t k = 0; k < scores.size(); ++k) {
      v.scores.push_back(scores[k].sum);
      if (!scores[k].given || (found && scores[k].sum <= best)) continue;
      found = true;
      best = scores[k].sum;
      v.label = static_cast<int64_t>(k);
    }
    ApplyPostTransform(op_.transform, v.scores);
    return v;
  }

  // The positive class wins above a threshold. Votes for one class only name it by its label, others by 1 and
  // 0.
  void SetWinner(double weight, Verdict& v) const {
    v.plain = !one_sided_ && !op_.labels.text();
    v.label = weight > (one_sided_ && positive_ ? 0.5 : 0.0) ? 1 : 0;
  }

  Verdict Two(std::vector<Score> s) const {
    const bool both = s[1].given || base_.size() == 2;
    if (base_.size() == 2 && s[1].given) {
      s[1].sum = base_[1] + s[0].sum;
      s[0].sum = -s[1].sum;
    } else if (!base_.empty()) {
      s[0].sum += base_[0];
    }
    Verdict v;
    SetWinner(s[1].given ? s[1].sum : s[0].given ? s[0].sum : 0, v);
    const auto shown = [](const Score& score) { return score.given ? score.sum : 0; };
    v.scores = {shown(s[0])};
    if (both) v.scores.push_back(shown(s[1]));
    const SecondClass second = one_sided_ && positive_       ? SecondClass::kComplement
                               : one_sided_ || base_.empty() ? SecondClass::kOpposite
                                                             : SecondClass::kNone;
    FinishScores(op_.transform, second, v.scores);
    v.scores.resize(2, 0.0);
    return v;
  }

  Verdict One(const Score& s) const {
    Verdict v;
    const double sum = s.sum + (base_.empty() ? 0 : base_.back());
    v.plain = true;
    v.label = sum > 0;
    v.scores = {sum};
    FinishScores(op_.transform, SecondClass::kNone, v.scores);
    return v;
  }

  const TreeEnsembleClassifier& op_;
  std::vector<double> base_, weights_;
  bool narrow_ = true, positive_ = true, one_sided_ = false;
};

Status Reference(const TreeEnsembleClassifier& op, EvalContext& c) {
  const ForestWalker walker(op);
  const Judge judge(op);
  TERN_ASSIGN(const Rows x, RowsOf(c.In("x")));
  if (x.width < walker.columns())
    return InvalidArgument("feature ", walker.columns() - 1, " is tested, but x has ", x.width, " features");
  Tensor& label = c.Out("label", {x.count});
  std::vector<double> all;
  for (int64_t r = 0; r < x.count; ++r) {
    std::vector<Score> scores(static_cast<size_t>(op.labels.count()));
    for (int64_t root : op.roots) judge.AddLeaf(static_cast<size_t>(walker.LeafOf(root, x.Row(r))), scores);
    const Verdict v = judge.Decide(std::move(scores));
    if (op.labels.text())
      label.data<std::string>()[r] = op.labels.texts[static_cast<size_t>(v.label)];
    else
      label.data<int64_t>()[r] = v.plain ? v.label : op.labels.ints[static_cast<size_t>(v.label)];
    all.insert(all.end(), v.scores.begin(), v.scores.end());
  }
  c.Out("scores", {x.count, op.labels.count()}, all);
  return {};
}

}  // namespace

TERN_OP(TreeEnsembleClassifier) {
  return OpDef::Of<TreeEnsembleClassifier>(
             "the class that the leaves each row of x ends in vote for, and the scores of all")
      .In("x", kFloats | kIndices)
      .Out("label", SetOf(DType::kI64) | kStrings)
      .OptOut("scores", SetOf(DType::kF32))
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
