// Converts the losses and the accuracy of networks that are tested with labels.
#include <algorithm>
#include <cfloat>

#include "import/caffe/ops/emit.h"

namespace tern::caffe {
namespace {

// Predictions [outer, classes, inner] and labels [outer, 1, inner].
struct Labelled {
  Value *scores = nullptr, *labels = nullptr;
  Value* valid = nullptr;  // f32 [outer, 1, inner]: 0 for ignored labels; null if none are ignored
  int64_t outer = 1, classes = 1, inner = 1;
};

Result<Labelled> LabelledOf(Layer& n, int64_t axis_or_negative, bool has_ignore, int64_t ignore) {
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  TERN_ASSIGN(const Dims labels, n.DimsOf(1));
  TERN_ASSIGN(const int axis, n.Axis(0, axis_or_negative));
  Labelled l;
  l.outer = CountOf(Dims(dims.begin(), dims.begin() + axis));
  l.classes = dims[static_cast<size_t>(axis)];
  l.inner = CountOf(Dims(dims.begin() + axis + 1, dims.end()));
  if (CountOf(labels) != l.outer * l.inner)
    return n.Bad("has ", CountOf(labels), " labels for ", l.outer * l.inner, " predictions");
  l.scores = Reshaped(n, n.In(0), {l.outer, l.classes, l.inner});
  l.labels = CastTo(n, Reshaped(n, n.In(1), {l.outer, 1, l.inner}), DType::kI64);
  if (has_ignore) {
    Value* ignored = Binary(n, "equal", l.labels, n.b.Scalar(DType::kI64, static_cast<double>(ignore)));
    l.valid = CastTo(n, Unary(n, "not", ignored), DType::kF32);
    l.labels = n.b.Op("Where", {ignored, n.b.Scalar(DType::kI64, 0), l.labels});
  }
  return l;
}

Value* OfLabel(Layer& n, const Labelled& l, Value* scores) {
  return n.b.Op("GatherElements", {scores, l.labels}, {{"axis", int64_t{1}}});
}

Value* SumAll(Layer& n, Value* x) { return n.b.Op("Reduce", {x}, {{"kind", "sum"}, {"keep_dims", false}}); }

using Mode = pb::LossParameter::NormalizationMode;

Mode ModeOf(const pb::LossParameter& p, Mode otherwise) {
  if (p.has_normalization()) return p.normalization();
  if (p.has_normalize()) return p.normalize() ? pb::LossParameter::VALID : pb::LossParameter::BATCH_SIZE;
  return otherwise;
}

// Divides a sum over all labels by the count that the mode selects, or by 1 if the count is 0. If the mode is
// NONE, returns the sum.
Value* PerLabel(Layer& n, Value* sum, Value* valid, int64_t outer, int64_t inner, Mode mode) {
  if (mode == pb::LossParameter::VALID && valid) {
    Value* count = n.b.Op("Clip", {SumAll(n, valid), Number(n, 1)});
    return Binary(n, "div", sum, count);
  }
  if (mode == pb::LossParameter::NONE) return sum;
  const int64_t count = mode == pb::LossParameter::BATCH_SIZE ? outer : outer * inner;
  return Affine(n, sum, 1.0 / static_cast<double>(std::max<int64_t>(count, 1)), 0);
}

Value* Masked(Layer& n, Value* x, Value* valid) { return valid ? Binary(n, "mul", x, valid) : x; }

Status SoftmaxWithLoss(Layer& n) {
  const auto& p = n.proto.loss_param();
  TERN_ASSIGN(const Labelled l,
              LabelledOf(n, n.proto.softmax_param().axis(), p.has_ignore_label(), p.ignore_label()));
  Value* prob = n.b.Op("Softmax", {l.scores}, {{"axis", int64_t{1}}});
  Value* logs = Unary(n, "log", n.b.Op("Clip", {OfLabel(n, l, prob), Number(n, FLT_MIN)}));
  Value* sum = SumAll(n, Masked(n, Unary(n, "neg", logs), l.valid));
  if (n.Tops() > 1) {
    TERN_ASSIGN(const Dims dims, n.DimsOf(0));
    n.Out(1, Reshaped(n, prob, dims));
  }
  n.Out(0, PerLabel(n, sum, l.valid, l.outer, l.inner, ModeOf(p, pb::LossParameter::VALID)));
  return {};
}

Status MultinomialLogisticLoss(Layer& n) {
  TERN_ASSIGN(const Labelled l, LabelledOf(n, 1, false, 0));
  Value* logs = Unary(n, "log", n.b.Op("Clip", {OfLabel(n, l, l.scores), Number(n, 1e-20)}));
  n.Out(0, Affine(n, SumAll(n, logs), -1.0 / static_cast<double>(l.outer), 0));
  return {};
}

// The third bottom [classes, classes] has a weight for each pair of a label and a class.
Status InfogainLoss(Layer& n) {
  const auto& p = n.proto.loss_param();
  if (n.Bottoms() < 3)
    return n.NotYet("the matrix of a file ('", n.proto.infogain_loss_param().source(),
                    "'); give it as the third bottom");
  TERN_ASSIGN(const Labelled l,
              LabelledOf(n, n.proto.infogain_loss_param().axis(), p.has_ignore_label(), p.ignore_label()));
  Value* prob = n.b.Op("Softmax", {l.scores}, {{"axis", int64_t{1}}});
  Value* logs = Unary(n, "log", n.b.Op("Clip", {prob, Number(n, 1e-20)}));
  Value* matrix = Reshaped(n, n.In(2), {l.classes, l.classes});
  Value* rows = n.b.Op("Gather", {matrix, Reshaped(n, l.labels, {l.outer, l.inner})}, {{"axis", int64_t{0}}});
  rows = n.b.Op("Transpose", {rows}, {{"perm", Dims{0, 2, 1}}});  // [outer, classes, inner]
  Value* sum = SumAll(n, Masked(n, Unary(n, "neg", Binary(n, "mul", rows, logs)), l.valid));
  if (n.Tops() > 1) {
    TERN_ASSIGN(const Dims dims, n.DimsOf(0));
    n.Out(1, Reshaped(n, prob, dims));
  }
  n.Out(0, PerLabel(n, sum, l.valid, l.outer, l.inner, ModeOf(p, pb::LossParameter::VALID)));
  return {};
}

// Returns the fraction of the predictions whose label is among the top_k best classes.
Status Accuracy(Layer& n) {
  const auto& p = n.proto.accuracy_param();
  TERN_ASSIGN(const Labelled l, LabelledOf(n, p.axis(), p.has_ignore_label(), p.ignore_label()));
  Value* better = CastTo(n, Binary(n, "greater_equal", l.scores, OfLabel(n, l, l.scores)), DType::kF32);
  Value* count = Reduced(n, "sum", better, {1});  // includes the label itself
  Value* right = CastTo(n, Binary(n, "less_equal", count, Number(n, p.top_k())), DType::kF32);
  Value* sum = SumAll(n, Masked(n, right, l.valid));
  n.Out(0, PerLabel(n, sum, l.valid, l.outer, l.inner, pb::LossParameter::VALID));
  return {};
}

Status EuclideanLoss(Layer& n) {
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  if (dims.empty()) return n.Bad("the bottoms have no axes");
  Value* d = Binary(n, "sub", n.In(0), n.In(1));
  n.Out(0, Affine(n, SumAll(n, Binary(n, "mul", d, d)), 0.5 / static_cast<double>(dims[0]), 0));
  return {};
}

// -(t log(s) + (1 - t) log(1 - s)) with s = sigmoid(x), which is softplus(x) - t x
Status SigmoidCrossEntropyLoss(Layer& n) {
  const auto& p = n.proto.loss_param();
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  if (dims.empty()) return n.Bad("the bottoms have no axes");
  Value* loss = Binary(n, "sub", Unary(n, "softplus", n.In(0)), Binary(n, "mul", n.In(0), n.In(1)));
  Value* valid = nullptr;
  if (p.has_ignore_label()) {
    Value* ignored = Binary(n, "equal", n.In(1), Number(n, p.ignore_label()));
    valid = CastTo(n, Unary(n, "not", ignored), DType::kF32);
  }
  const int64_t inner = CountOf(dims) / std::max<int64_t>(dims[0], 1);
  n.Out(0, PerLabel(n, SumAll(n, Masked(n, loss, valid)), valid, dims[0], inner,
                    ModeOf(p, pb::LossParameter::BATCH_SIZE)));
  return {};
}

Status HingeLoss(Layer& n) {
  TERN_ASSIGN(const Labelled l, LabelledOf(n, 1, false, 0));
  Value* numbers =
      n.b.Op("Range", {n.b.Scalar(DType::kI64, 0), n.b.Scalar(DType::kI64, static_cast<double>(l.classes)),
                       n.b.Scalar(DType::kI64, 1)});
  Value* classes = Reshaped(n, numbers, {1, l.classes, 1});
  Value* is_label = Binary(n, "equal", classes, l.labels);
  Value* margin = n.b.Op("Where", {is_label, Unary(n, "neg", l.scores), l.scores});
  margin = Unary(n, "relu", Affine(n, margin, 1, 1));
  if (n.proto.hinge_loss_param().norm() == pb::HingeLossParameter::L2)
    margin = Binary(n, "mul", margin, margin);
  n.Out(0, Affine(n, SumAll(n, margin), 1.0 / static_cast<double>(l.outer), 0));
  return {};
}

// The bottoms are a [N, C], b [N, C] and y [N]. An element of y is 1 if the rows of a and b belong together.
Status ContrastiveLoss(Layer& n) {
  const auto& p = n.proto.contrastive_loss_param();
  TERN_ASSIGN(const Dims dims, n.DimsOf(0));
  if (dims.size() < 2) return n.Bad("the bottoms must be [batch,channels]");
  Value* d = Reshaped(n, Binary(n, "sub", n.In(0), n.In(1)), {dims[0], -1});
  Value* squared = Reduced(n, "sum_square", d, {1}, false);
  Value* distance = p.legacy_version() ? squared : Unary(n, "sqrt", squared);
  Value* apart = Unary(n, "relu", Affine(n, distance, -1, p.margin()));
  if (!p.legacy_version()) apart = Binary(n, "mul", apart, apart);
  Value* same = Unary(n, "not", Binary(n, "equal", Reshaped(n, n.In(2), {-1}), Number(n, 0)));
  Value* loss = n.b.Op("Where", {same, squared, apart});
  n.Out(0, Affine(n, SumAll(n, loss), 0.5 / static_cast<double>(dims[0]), 0));
  return {};
}

}  // namespace

TERN_CONVERTERS(loss) {
  table.Add("Accuracy", Accuracy, {2, 2, 1, 1});
  table.Add("ContrastiveLoss", ContrastiveLoss, {3, 3, 1, 1});
  table.Add("EuclideanLoss", EuclideanLoss, {2, 2, 1, 1});
  table.Add("HingeLoss", HingeLoss, {2, 2, 1, 1});
  table.Add("InfogainLoss", InfogainLoss, {2, 3, 1, 2});
  table.Add("MultinomialLogisticLoss", MultinomialLogisticLoss, {2, 2, 1, 1});
  table.Add("SigmoidCrossEntropyLoss", SigmoidCrossEntropyLoss, {2, 2, 1, 1});
  table.Add("SoftmaxWithLoss", SoftmaxWithLoss, {2, 2, 1, 2});
}

}  // namespace tern::caffe
