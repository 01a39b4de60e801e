// Losses and distances.
#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

enum LossReduction { kNone, kMean, kSum };

// Reduces the losses of all elements. A mean divides by `weight`, the sum of the weights. If `weight` is
// null, it divides by the number of elements.
Status OutReduced(AtenNode& n, Value* losses, Value* weight = nullptr) {
  Emit e(n.b);
  const int64_t reduction = n.Int("reduction", kMean);
  if (reduction == kNone) {
    n.Out(losses);
    return {};
  }
  const bool scalar = losses->type.shape.rank() == 0;
  const char* kind = reduction == kMean && !weight ? "mean" : "sum";
  Value* y = scalar ? losses : n.b.Op("Reduce", {losses}, {{"kind", kind}, {"keep_dims", false}});
  n.Out(reduction == kMean && weight ? e.Div(y, weight) : y);
  return {};
}

struct LossOperands {
  Value *x, *y;
};

LossOperands Operands(AtenNode& n) {
  const DType t = FloatOf(ResultType({&n.Get("self"), &n.Get("target")}));
  return {As(n, "self", t), As(n, "target", t)};
}

Status MseLoss(AtenNode& n) {
  Emit e(n.b);
  const LossOperands p = Operands(n);
  Value* gap = e.Sub(p.x, p.y);
  return OutReduced(n, e.Mul(gap, gap));
}

Status L1Loss(AtenNode& n) {
  Emit e(n.b);
  const LossOperands p = Operands(n);
  return OutReduced(n, e.Unary("abs", e.Sub(p.x, p.y)));
}

// Quadratic near 0, else linear. The Huber loss is delta times the smooth L1 loss.
Status SmoothL1(AtenNode& n, const char* limit, bool huber) {
  Emit e(n.b);
  const LossOperands p = Operands(n);
  const double beta = n.Float(limit, 1);
  Value* gap = e.Unary("abs", e.Sub(p.x, p.y));
  if (beta == 0) return OutReduced(n, gap);
  const double scale = huber ? 1 : 1 / beta;
  Value* near = e.Mul(e.Mul(gap, gap), e.Like(gap, 0.5 * scale));
  Value* far = e.Mul(e.Sub(gap, e.Like(gap, 0.5 * beta)), e.Like(gap, huber ? beta : 1));
  return OutReduced(n, e.Where(e.Binary("less", gap, e.Like(gap, beta)), near, far));
}

Status BinaryCrossEntropy(AtenNode& n) {
  Emit e(n.b);
  const LossOperands p = Operands(n);
  const auto log = [&](Value* v) { return e.Binary("max", e.Unary("log", v), e.Like(v, -100)); };
  Value* one = e.Like(p.x, 1);
  Value* y = e.Unary("neg", e.Add(e.Mul(p.y, log(p.x)), e.Mul(e.Sub(one, p.y), log(e.Sub(one, p.x)))));
  if (n.Has("weight")) y = e.Mul(y, n.In("weight"));
  return OutReduced(n, y);
}

// (1 - y) x + w softplus(-x), where w is 1, or 1 + (pos_weight - 1) y
Status BinaryCrossEntropyLogits(AtenNode& n) {
  Emit e(n.b);
  const LossOperands p = Operands(n);
  Value* one = e.Like(p.x, 1);
  Value* soft = e.Unary("softplus", e.Unary("neg", p.x));
  if (n.Has("pos_weight")) soft = e.Mul(soft, e.Add(one, e.Mul(e.Sub(n.In("pos_weight"), one), p.y)));
  Value* y = e.Add(e.Mul(e.Sub(one, p.y), p.x), soft);
  if (n.Has("weight")) y = e.Mul(y, n.In("weight"));
  return OutReduced(n, y);
}

Status KlDivergence(AtenNode& n) {
  Emit e(n.b);
  const LossOperands p = Operands(n);
  Value* zero = e.Like(p.y, 0);
  Value* y = n.Bool("log_target")
                 ? e.Mul(e.Unary("exp", p.y), e.Sub(p.y, p.x))
                 : e.Sub(e.Where(e.Binary("equal", p.y, zero), zero, e.Mul(p.y, e.Unary("log", p.y))),
                         e.Mul(p.y, p.x));
  return OutReduced(n, y);
}

// The negative log-likelihood of classes (axis 1, or axis 0 of a vector).
Status NllOf(AtenNode& n, Value* log_probabilities, bool with_total) {
  Emit e(n.b);
  Value* target = e.Cast(n.In("target"), DType::kI64);
  Value* x = log_probabilities;
  const int64_t axis = x->type.shape.rank() == 1 ? 0 : 1, ignored = n.Int("ignore_index", -100);
  Value* valid = e.Not(e.Binary("equal", target, e.Long(ignored)));
  Value* at = e.Where(valid, target, e.Long(0));
  Value* picked = e.Squeeze(n.b.Op("GatherElements", {x, e.Unsqueeze(at, {axis})}, {{"axis", axis}}), {axis});
  Value* weight = n.Has("weight") ? n.b.Op("Gather", {n.In("weight"), at}, {{"axis", int64_t{0}}}) : nullptr;
  Value* mask = e.Cast(valid, x->type.dtype);
  Value* factor = weight ? e.Mul(weight, mask) : mask;
  Value* losses = e.Unary("neg", e.Mul(picked, factor));
  Value* total = factor->type.shape.rank() == 0
                     ? factor
                     : n.b.Op("Reduce", {factor}, {{"kind", "sum"}, {"keep_dims", false}});
  TERN_TRY(OutReduced(n, losses, total));
  if (with_total) n.Out(total);
  return {};
}

Status CrossEntropy(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const int64_t axis = x->type.shape.rank() == 1 ? 0 : 1;
  if (n.Float("label_smoothing") != 0) return n.NotYet("label smoothing");
  Value* log = n.b.Op("Softmax", {x}, {{"kind", "log_softmax"}, {"axis", axis}});
  if (!IsFloat(n.TypeOf("target"))) return NllOf(n, log, false);
  if (n.Has("weight")) return n.NotYet("weights of probabilities");
  Value* losses = e.Unary("neg", e.Reduce("sum", e.Mul(log, n.In("target")), {axis}, false));
  return OutReduced(n, losses);
}

Status PairwiseDistance(AtenNode& n) {
  Emit e(n.b);
  Value* gap = e.Add(e.Sub(n.In("x1"), n.In("x2")), e.Like(n.In("x1"), n.Float("eps", 1e-6)));
  const double p = n.Float("p", 2);
  if (p != 1 && p != 2) return n.NotYet("the distance of order ", p);
  n.Out(e.Reduce(p == 2 ? "l2" : "l1", gap, {-1}, n.Bool("keepdim")));
  return {};
}

}  // namespace

TERN_CONVERTERS(loss) {
  table.Add("aten::mse_loss", MseLoss);
  table.Add("aten::l1_loss", L1Loss);
  table.Add("aten::smooth_l1_loss", [](AtenNode& n) { return SmoothL1(n, "beta", false); });
  table.Add("aten::huber_loss", [](AtenNode& n) { return SmoothL1(n, "delta", true); });
  table.Add("aten::binary_cross_entropy", BinaryCrossEntropy);
  table.Add("aten::binary_cross_entropy_with_logits", BinaryCrossEntropyLogits);
  table.Add("aten::kl_div", KlDivergence);
  table.Add("aten::nll_loss", [](AtenNode& n) { return NllOf(n, n.In("self"), false); });
  table.Add("aten::nll_loss_nd", [](AtenNode& n) { return NllOf(n, n.In("self"), false); });
  table.Add("aten::nll_loss2d", [](AtenNode& n) { return NllOf(n, n.In("self"), false); });
  table.Add("aten::nll_loss_forward", [](AtenNode& n) { return NllOf(n, n.In("self"), true); });
  table.Add("aten::nll_loss2d_forward", [](AtenNode& n) { return NllOf(n, n.In("self"), true); });
  table.Add("aten::cross_entropy_loss", CrossEntropy);
  table.Add("aten::pairwise_distance", PairwiseDistance);
}

}  // namespace tern::torch
