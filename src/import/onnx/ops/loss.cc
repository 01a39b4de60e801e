// Converts losses to elementary ops.
#include "import/onnx/require.h"

namespace tern::onnx {
namespace {

// Emits the negative log probability of each target class, weighted and reduced as the attributes say.
// log_probability is [N, C, d1, …]. target is [N, d1, …].
class LikelihoodLoss {
 public:
  LikelihoodLoss(OnnxNode& n, Value* log_probability)
      : n_(n), b_(n.b), log_probability_(log_probability), target_(n.In(1)), type_(n.TypeOf(0)) {}

  Status Emit() {
    TERN_TRY(Require(n_, 0));
    TERN_TRY(Require(n_, 1, kInts));
    const std::string reduction = n_.Text("reduction", "mean");
    if (reduction != "none" && reduction != "sum" && reduction != "mean")
      return n_.Bad("reduction must be none, sum or mean, got '", reduction, "'");
    FindIgnored();
    Value* weight = Weights();
    Value* index = b_.Op("Unsqueeze", {target_, b_.Ints({1})});
    Value* picked = b_.Op("GatherElements", {log_probability_, index}, {{"axis", int64_t{1}}});
    Value* loss = b_.Op("Unary", {b_.Op("Squeeze", {picked, b_.Ints({1})})}, {{"kind", "neg"}});
    if (weight) loss = b_.Op("Binary", {loss, weight}, {{"kind", "mul"}});
    if (ignored_) loss = b_.Op("Where", {ignored_, b_.Scalar(type_, 0), loss});
    n_.Out(0, reduction == "none" ? loss : Reduced(loss, weight, reduction));
    return {};
  }

 private:
  // An ignored target may be an invalid class. It is replaced by class 0, and Emit sets its loss to 0.
  void FindIgnored() {
    if (!n_.HasAttr("ignore_index")) return;
    Tensor ignore(n_.TypeOf(1), {});
    StoreLong(ignore, 0, n_.Int("ignore_index"));
    ignored_ = b_.Op("Binary", {target_, b_.Const(ignore)}, {{"kind", "equal"}});
    target_ = b_.Op("Where", {ignored_, b_.Scalar(n_.TypeOf(1), 0), target_});
  }

  // Returns one weight per target, or null if all weights are 1.
  Value* Weights() {
    Value* weight = n_.Has(2) ? b_.Op("Gather", {n_.In(2), target_}, {{"axis", int64_t{0}}}) : nullptr;
    if (!ignored_) return weight;
    return b_.Op("Where", {ignored_, b_.Scalar(type_, 0), weight ? weight : b_.Scalar(type_, 1)});
  }

  Value* Reduced(Value* loss, Value* weight, const std::string& reduction) {
    if (reduction == "mean" && !weight)
      return b_.Op("Reduce", {loss}, {{"kind", "mean"}, {"keep_dims", false}});
    Value* sum = b_.Op("Reduce", {loss}, {{"kind", "sum"}, {"keep_dims", false}});
    if (reduction == "sum") return sum;
    return b_.Op("Binary", {sum, b_.Op("Reduce", {weight}, {{"kind", "sum"}, {"keep_dims", false}})},
                 {{"kind", "div"}});
  }

  OnnxNode& n_;
  Builder& b_;
  Value *log_probability_, *target_, *ignored_ = nullptr;
  DType type_;
};

Status NegativeLogLikelihood(OnnxNode& n) { return LikelihoodLoss(n, n.In(0)).Emit(); }

Status SoftmaxCrossEntropy(OnnxNode& n) {
  Value* log_probability = n.b.Op("Softmax", {n.In(0)}, {{"kind", "log_softmax"}, {"axis", int64_t{1}}});
  n.Out(1, log_probability);
  return LikelihoodLoss(n, log_probability).Emit();
}

}  // namespace

TERN_CONVERTERS(loss) {
  table.Add("NegativeLogLikelihoodLoss", NegativeLogLikelihood);
  table.Add("SoftmaxCrossEntropyLoss", SoftmaxCrossEntropy);
}

}  // namespace tern::onnx
