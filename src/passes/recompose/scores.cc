#include "passes/recompose/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tern {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// A number of this magnitude does not change if a score is added to it.
constexpr double kHuge = 1e30;

class ScoreReader {
 public:
  Scores Run(Value* v) {
    Read(v, 1, 0);
    if (!scores_.product && scores_.problem.empty()) scores_.problem = "the scores are not a product";
    return std::move(scores_);
  }

 private:
  // Matches v. The softmax reads factor * v, possibly masked. Returns false if v is not computed from the
  // product of queries and keys.
  bool Read(Value* v, double factor, int depth) {
    if (!v || !v->producer || depth > 16) return false;
    if (!OnlyUse(v)) return Problem(StrCat("'", v->name, "' has other readers"));
    Node& n = *v->producer;
    if (IsOp(n, "MatMul")) return ReadProduct(n, factor);
    if (IsOp(n, "Cast")) return IsFloatValue(n.input(0)) && Read(n.input(0), factor, depth + 1);
    if (IsOp(n, "Clip")) return ReadFloor(n, factor, depth);
    if (IsOp(n, "Where")) return ReadChoice(n, factor, depth);
    if (IsOp(n, "Unary", "tanh")) return ReadCap(n, factor, depth);
    if (IsOp(n, "Binary", "add")) return ReadSum(n, factor, depth);
    if (IsOp(n, "Binary", "mul") || IsOp(n, "Binary", "div")) return ReadScaled(n, factor, depth);
    return false;
  }

  bool Problem(std::string why) {
    scores_.problem = std::move(why);
    return false;
  }

  bool ReadProduct(Node& n, double factor) {
    if (n.input(2) || n.input(3) || n.attrs.Text("activation") != "none")
      return Problem("the product of queries and keys has a bias or an epilogue");
    scores_.product = &n;
    scores_.scale = factor * n.attrs.Float("alpha");
    return true;
  }

  bool ReadScaled(Node& n, double factor, int depth) {
    const auto right = ScalarOf(n.input(1));
    if (!right && ScalarOf(n.input(0)) == std::nullopt) return ReadHeadScale(n, factor, depth);
    if (IsOp(n, "Binary", "div")) return right && *right != 0 && Read(n.input(0), factor / *right, depth + 1);
    if (right) return Read(n.input(0), factor * *right, depth + 1);
    const auto left = ScalarOf(n.input(0));
    return left && Read(n.input(1), factor * *left, depth + 1);
  }

  // Matches a product with a constant factor [heads, 1, 1].
  bool ReadHeadScale(Node& n, double factor, int depth) {
    if (!IsOp(n, "Binary", "mul") || scores_.head_scale || scores_.softcap > 0) return false;
    for (int side : {0, 1}) {
      Value* scale = n.input(1 - side);
      const Shape& s = scale->type.shape;
      if (!scale->is_constant() || s.rank() < 2 || !s[-1].Is(1) || !s[-2].Is(1)) continue;
      scores_.head_scale = scale;
      return Read(n.input(side), factor, depth + 1);
    }
    return false;
  }

  bool ReadFloor(Node& n, double factor, int depth) {
    const auto least = ScalarOf(n.input(1));
    if (!least || n.input(2) || *least > -kHuge || factor <= 0) return Problem("the scores are clipped");
    scores_.floored = true;
    return Read(n.input(0), factor, depth + 1);
  }

  // Attention adds the mask last. Returns false if the mask that is read now comes before another step.
  bool MaskComesLast() {
    if (scores_.softcap > 0) return Problem("a mask is applied before the softcap");
    if (scores_.head_scale) return Problem("a mask is applied before the scale per head");
    return true;
  }

  // One operand is computed from the product of queries and keys. The other operand is a mask.
  bool ReadSum(Node& n, double factor, int depth) {
    if (!MaskComesLast()) return false;
    for (int side : {0, 1}) {
      const size_t before = scores_.masks.size();
      MaskStep step;
      step.addend = n.input(1 - side);
      step.factor = factor;
      scores_.masks.push_back(step);
      if (Read(n.input(side), factor, depth + 1)) return true;
      scores_.masks.resize(before);
    }
    return false;
  }

  bool ReadChoice(Node& n, double factor, int depth) {
    if (!MaskComesLast()) return false;
    for (int side : {1, 2}) {
      const auto fill = ScalarOf(n.input(3 - side));
      if (!fill) continue;
      if (!(*fill * factor <= -kHuge)) return Problem(StrCat("masked scores are ", *fill * factor));
      MaskStep step;
      step.condition = n.input(0);
      step.open = side == 1;
      step.fill = *fill * factor;
      scores_.masks.push_back(step);
      return Read(n.input(side), factor, depth + 1);
    }
    return Problem("a Where chooses between two scores");
  }

  bool ReadCap(Node& n, double factor, int depth) {
    if (scores_.softcap > 0 || factor <= 0)
      return Problem("there are two softcaps, or the scale is not positive");
    scores_.softcap = factor;
    return Read(n.input(0), factor, depth + 1);
  }

  Scores scores_;
};

Value* Scaled(Rewrite& r, Value* mask, double factor, DType dtype) {
  if (factor == 1) return mask;
  return r.Op("Binary", {mask, r.Scalar(dtype, factor)}, {{"kind", std::string("mul")}});
}

}  // namespace

Scores ReadScores(Value* v) { return ScoreReader().Run(v); }

Value* JoinMasks(Rewrite& r, const Scores& scores, DType dtype) {
  const auto& masks = scores.masks;
  if (masks.size() == 1 && masks[0].condition && masks[0].fill == -kInfinity) {
    Value* condition = masks[0].condition;
    return masks[0].open ? condition : r.Op("Unary", {condition}, {{"kind", std::string("not")}});
  }
  Value* joined = nullptr;
  for (auto it = masks.rbegin(); it != masks.rend(); ++it) {
    if (it->addend) {
      Value* mask = Scaled(r, it->addend, it->factor, dtype);
      joined = joined ? r.Op("Binary", {joined, mask}, {{"kind", std::string("add")}}) : mask;
      continue;
    }
    Value* open = joined ? joined : r.Scalar(dtype, 0);
    // Replaces each finite fill by -kHuge, which masks a score just as well. The lowest float would make
    // onnxruntime's Attention treat a row as empty if all its scores are masked.
    Value* masked = r.Scalar(dtype, it->fill == -kInfinity ? it->fill : -kHuge);
    joined = r.Op("Where", {it->condition, it->open ? open : masked, it->open ? masked : open});
  }
  return joined;
}

}  // namespace tern
