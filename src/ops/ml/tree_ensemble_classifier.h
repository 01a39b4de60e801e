// TreeEnsembleClassifier: decision trees that vote for classes. If there are two classes, the winner is
// chosen as in onnxruntime, because the ONNX specification defines no rule and models are made for
// onnxruntime.
#pragma once
#include <algorithm>

#include "ops/ml/forest.h"
#include "ops/ml/labels.h"
#include "ops/ml/post_transform.h"

namespace tern {

struct TreeEnsembleClassifier : Forest {
  Labels labels;
  std::vector<float> base;
  Tensor base_wide;
  PostTransform transform = PostTransform::kNone;
  template <class V> void Visit(V& v) {
    Forest::Visit(v);
    labels.Visit(v);
    v("base", base, "a number per class that is added to the votes");
    v("base_wide", base_wide, "the values of base as f64; if present, base is ignored");
    v.Enum("transform", transform, PostTransformNames(), "the function applied to each row of scores");
  }
};

inline std::vector<double> BaseOf(const TreeEnsembleClassifier& op) {
  if (op.base_wide.defined()) return ToDoubles(op.base_wide);
  return {op.base.begin(), op.base.end()};
}

// The class that a row's votes select.
struct Decision {
  int64_t label = 0;  // the class index, or the label itself if `plain`
  bool plain = false;
};

class Decider {
 public:
  explicit Decider(const TreeEnsembleClassifier& op) : op_(op), base_(BaseOf(op)) {
    const auto weights = op.vote_weight.defined() ? ToDoubles(op.vote_weight) : std::vector<double>();
    positive_ = std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0; });
    const auto& t = op.vote_target;
    one_sided_ = op.labels.count() == 2 && !t.empty() &&
                 std::all_of(t.begin(), t.end(), [&](int64_t v) { return v == t[0]; });
  }

  // `votes` has one entry per class, and the function modifies the entries. `scores` receives one score per
  // class, and has capacity for at least two.
  Decision Decide(VoteSum* votes, double* scores) const {
    const int64_t classes = op_.labels.count();
    return classes > 2 ? Many(votes, scores) : classes == 2 ? Two(votes, scores) : One(votes[0], scores);
  }

 private:
  Decision Many(VoteSum* votes, double* scores) const {
    for (size_t k = 0; k < base_.size(); ++k) {
      votes[k].sum += base_[k];
      votes[k].given = true;
    }
    Decision v;
    const auto classes = static_cast<size_t>(op_.labels.count());
    bool found = false;
    double best = 0;
    for (size_t k = 0; k < classes; ++k) {
      scores[k] = votes[k].sum;
      if (!votes[k].given || (found && votes[k].sum <= best)) continue;
      found = true;
      best = votes[k].sum;
      v.label = static_cast<int64_t>(k);
    }
    ApplyPostTransform(op_.transform, scores, classes);
    return v;
  }

  // The second class wins if `weight` exceeds a threshold. If all leaves vote for the same class, or if
  // labels are strings, Decision::label is a class index. Otherwise it is the label 0 or 1 itself.
  Decision WinnerOf(double weight) const {
    Decision v;
    v.plain = !one_sided_ && !op_.labels.text();
    v.label = weight > (one_sided_ && positive_ ? 0.5 : 0.0) ? 1 : 0;
    return v;
  }

  Decision Two(VoteSum* s, double* scores) const {
    const bool has_two = s[1].given || base_.size() == 2;
    if (base_.size() == 2 && s[1].given) {
      s[1].sum = base_[1] + s[0].sum;
      s[0].sum = -s[1].sum;
    } else if (!base_.empty()) {
      s[0].sum += base_[0];
    }
    for (int k = 0; k < 2; ++k) scores[k] = s[k].given ? s[k].sum : 0;
    const SecondClass second = one_sided_ && positive_       ? SecondClass::kComplement
                               : one_sided_ || base_.empty() ? SecondClass::kOpposite
                                                             : SecondClass::kNone;
    if (FinishScores(op_.transform, second, scores, has_two ? 2 : 1) == 1) scores[1] = 0;
    return WinnerOf(s[1].given ? s[1].sum : s[0].given ? s[0].sum : 0);
  }

  Decision One(const VoteSum& s, double* scores) const {
    scores[0] = s.sum + (base_.empty() ? 0 : base_.back());
    const bool above = scores[0] > 0;
    FinishScores(op_.transform, SecondClass::kNone, scores, 1);
    return {above, true};
  }

  const TreeEnsembleClassifier& op_;
  std::vector<double> base_;
  bool positive_ = true, one_sided_ = false;
};

}  // namespace tern
