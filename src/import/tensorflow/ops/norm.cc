// Converts normalization, biases, softmax and losses.
#include "import/tensorflow/layout.h"
#include "import/tensorflow/ops/elementwise.h"
#include "import/tensorflow/ops/window.h"

namespace tern::tensorflow {
namespace {

// In training, mean and variance are those of the batch.
Status TrainingNorm(TfNode& n, Value* x, bool first) {
  TERN_ASSIGN(const int rank, n.RankOf(x));
  std::vector<int64_t> axes = {0}, spread;
  for (int64_t i = 2; i < rank; ++i) axes.push_back(i);
  for (int64_t i = 1; i < rank - 1; ++i) spread.push_back(i);
  const DType wide = DType::kF32;
  Value* wide_x = n.Cast(x, wide);
  Value* mean = n.Reduce("mean", wide_x, axes, true);
  Value* d = n.Binary("sub", wide_x, mean);
  Value* variance = n.Reduce("mean", n.Binary("mul", d, d), axes, true);
  Value* root = n.Unary("sqrt", n.Binary("add", variance, n.Like(variance, n.Float("epsilon"))));
  Value* y = n.Binary("mul", n.Binary("div", d, root), n.Unsqueeze(n.In(1), spread));
  y = n.Cast(n.Binary("add", y, n.Unsqueeze(n.In(2), spread)), x->type.dtype);
  WindowOutput(n, 0, y, first);
  // Output 2 is the unbiased variance. Output 4 is the biased variance, which divides by the count.
  Value* count = n.Cast(n.Binary("div", n.Op("Size", {x}), n.Scalar(n.DimOf(x, 1))), wide);
  Value* unbiased =
      n.Binary("div", count, n.Binary("max", n.Binary("sub", count, n.Like(count, 1)), n.Like(count, 1)));
  Value *flat_mean = n.Vector(mean), *flat_variance = n.Vector(variance);
  n.Out(1, flat_mean);
  n.Out(2, n.Binary("mul", flat_variance, unbiased));
  n.Out(3, flat_mean);
  n.Out(4, flat_variance);
  return {};
}

Status FusedBatchNorm(TfNode& n) {
  TERN_ASSIGN(const bool first, IsChannelsFirst(n));
  Value* x = WindowInput(n, 0, first);
  TERN_TRY(Status(n.b.status()));
  if (n.Bool("is_training")) return TrainingNorm(n, x, first);
  const DType dtype = x->type.dtype;
  std::vector<Value*> inputs = {x};
  for (int i = 1; i < 5; ++i) inputs.push_back(n.Cast(n.In(i), dtype));
  WindowOutput(n, 0, n.Op("BatchNorm", inputs, {{"epsilon", static_cast<double>(n.Float("epsilon"))}}),
               first);
  n.Out(1, n.In(3));
  n.Out(2, n.In(4));
  n.Out(3, n.In(3));
  n.Out(4, n.In(4));
  return {};
}

// Inputs: t, mean, variance, beta, gamma.
Status GlobalNorm(TfNode& n) {
  Value* x = n.ChannelsFirst(0);
  Value *scale = n.In(4), *bias = n.In(3);
  if (!n.Bool("scale_after_normalization"))
    scale = n.Op("Fill", {n.ShapeOf(bias)}, {{"value", n.Numbers(bias->type.dtype, {1}, {1})}});
  n.OutChannelsFirst(0, n.Op("BatchNorm", {x, scale, bias, n.In(1), n.In(2)},
                             {{"epsilon", static_cast<double>(n.Float("variance_epsilon"))}}));
  return {};
}

Status BiasAdd(TfNode& n) {
  const bool first = n.op() == "BiasAdd" && n.Text("data_format") == "NCHW";
  if (!first) return MapInputs(n, [&](Value* x, Value* bias) { return n.Binary("add", x, bias); });
  TERN_ASSIGN(const int rank, n.RankOf(0));
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < rank - 1; ++i) axes.push_back(i);
  n.Out(0, n.Binary("add", n.In(0), axes.empty() ? n.In(1) : n.Unsqueeze(n.In(1), axes)));
  return {};
}

Status Lrn(TfNode& n) {
  const int64_t size = 2 * n.Int("depth_radius") + 1;
  n.OutChannelsFirst(0, n.Op("Lrn", {n.ChannelsFirst(0)},
                             {{"size", size},
                              {"alpha", static_cast<double>(n.Float("alpha")) * static_cast<double>(size)},
                              {"beta", static_cast<double>(n.Float("beta"))},
                              {"bias", static_cast<double>(n.Float("bias"))}}));
  return {};
}

Converter SoftmaxOf(const char* kind) {
  return [kind](TfNode& n) -> Status {
    n.Out(0, n.Op("Softmax", {n.In(0)}, {{"kind", kind}, {"axis", -1}}));
    return {};
  };
}

Status L2Loss(TfNode& n) {
  Value* x = n.In(0);
  Value* sum = n.Op("Reduce", {x}, {{"kind", "sum_square"}, {"keep_dims", false}});
  n.Out(0, n.Binary("mul", sum, n.Like(sum, 0.5)));
  return {};
}

// loss = -sum(labels * log_softmax(x)), backprop = softmax(x) - labels
Status CrossEntropy(TfNode& n, Value* labels) {
  Value* x = n.In(0);
  Value* log = n.Op("Softmax", {x}, {{"kind", "log_softmax"}, {"axis", -1}});
  n.Out(0, n.Unary("neg", n.Reduce("sum", n.Binary("mul", labels, log), {-1}, false)));
  n.Out(1, n.Binary("sub", n.Op("Softmax", {x}, {{"axis", -1}}), labels));
  return {};
}

Status SparseCrossEntropy(TfNode& n) {
  Value* x = n.In(0);
  Value* values = n.b.Const(n.Numbers(x->type.dtype, {2}, {0, 1}));
  return CrossEntropy(n, n.Op("OneHot", {n.In(1), n.Scalar(n.DimOf(x, -1)), values}, {{"axis", -1}}));
}

}  // namespace

TERN_CONVERTERS(norm) {
  for (const char* op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
    table.Add(op, FusedBatchNorm);
  table.Add("BatchNormWithGlobalNormalization", GlobalNorm);
  for (const char* op : {"BiasAdd", "BiasAddV1"}) table.Add(op, BiasAdd);
  table.Add("LRN", Lrn);
  table.Add("Softmax", SoftmaxOf("softmax"));
  table.Add("LogSoftmax", SoftmaxOf("log_softmax"));
  table.Add("L2Loss", L2Loss);
  table.Add("SoftmaxCrossEntropyWithLogits", [](TfNode& n) { return CrossEntropy(n, n.In(1)); });
  table.Add("SparseSoftmaxCrossEntropyWithLogits", SparseCrossEntropy);
}

}  // namespace tern::tensorflow
