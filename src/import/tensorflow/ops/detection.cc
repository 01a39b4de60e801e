// Converts non-maximum suppression.
#include "import/tensorflow/converter.h"

namespace tern::tensorflow {
namespace {

Value* F32(TfNode& n, Value* x) { return n.Cast(n.Vector(x), DType::kF32); }
Value* I64(TfNode& n, Value* x) { return n.Cast(n.Vector(x), DType::kI64); }

// Returns the indices of the selected boxes (i64[k]), for boxes [n, 4] and scores [n].
Value* SelectBoxes(TfNode& n, Value* max_output, Value* iou, Value* score) {
  Value* boxes = n.Unsqueeze(n.Cast(n.In(0), DType::kF32), {0});
  Value* scores = n.Unsqueeze(n.Cast(n.In(1), DType::kF32), {0, 1});
  std::vector<Value*> inputs = {boxes, scores, I64(n, max_output), F32(n, iou)};
  if (score) inputs.push_back(F32(n, score));
  Value* selected = n.Op("NonMaxSuppression", inputs);
  return n.Op("Gather", {selected, n.b.Scalar(DType::kI64, 2)}, {{"axis", 1}});
}

Value* PadTo(TfNode& n, Value* x, Value* size) {
  Value* missing = n.Binary("sub", I64(n, size), n.DimOf(x, 0));
  return n.Op("Pad", {x, n.Concat({n.b.Ints({0}), missing}, 0)});
}

Status Nms(TfNode& n) {
  Value* iou = n.op() == "NonMaxSuppression" ? n.b.Scalar(DType::kF32, n.Float("iou_threshold")) : n.In(3);
  Value* score = n.InputCount() > 4 ? n.In(4) : nullptr;
  n.Out(0, n.Cast(SelectBoxes(n, n.In(2), iou, score), DType::kI32));
  return {};
}

Status NmsV4(TfNode& n) {
  Value* picked = SelectBoxes(n, n.In(2), n.In(3), n.In(4));
  Value* count = n.Cast(n.Scalar(n.DimOf(picked, 0)), DType::kI32);
  if (n.Bool("pad_to_max_output_size")) picked = PadTo(n, picked, n.In(2));
  n.Out(0, n.Cast(picked, DType::kI32));
  n.Out(1, count);
  return {};
}

Status NmsV5(TfNode& n) {
  TERN_ASSIGN(const double sigma, n.Number(5, "soft_nms_sigma"));
  if (sigma != 0) return n.NotYet("soft_nms_sigma ", sigma);
  Value* picked = SelectBoxes(n, n.In(2), n.In(3), n.In(4));
  Value* scores = n.Op("Gather", {n.In(1), picked}, {{"axis", 0}});
  Value* count = n.Cast(n.Scalar(n.DimOf(picked, 0)), DType::kI32);
  if (n.Bool("pad_to_max_output_size")) {
    picked = PadTo(n, picked, n.In(2));
    scores = PadTo(n, scores, n.In(2));
  }
  n.Out(0, n.Cast(picked, DType::kI32));
  n.Out(1, scores);
  n.Out(2, count);
  return {};
}

// boxes [batch, n, q, 4], scores [batch, n, classes]; q is 1 or the number of classes.
struct Detections {
  Value *boxes, *scores;       // [batch * classes, n, 4] and [batch * classes, 1, n]
  Value *batch, *n, *classes;  // i64[1]
};

Result<Detections> DetectionsOf(TfNode& n) {
  Value *boxes = n.In(0), *scores = n.In(1);
  TERN_ASSIGN(const int rank, n.RankOf(boxes));
  if (rank != 4) return n.Bad("boxes must have 4 axes, got ", rank);
  Detections d;
  d.batch = n.DimOf(scores, 0);
  d.n = n.DimOf(scores, 1);
  d.classes = n.DimOf(scores, 2);
  Value* rows = n.Binary("mul", d.batch, d.classes);
  Value* each = n.Op(
      "Expand", {n.Transpose(boxes, {0, 2, 1, 3}), n.Concat({d.batch, d.classes, d.n, n.b.Ints({4})}, 0)});
  d.boxes = n.Op("Reshape", {each, n.Concat({rows, d.n, n.b.Ints({4})}, 0)}, {{"allow_zero", true}});
  d.scores = n.Op("Reshape", {n.Transpose(scores, {0, 2, 1}), n.Concat({rows, n.b.Ints({1}), d.n}, 0)},
                  {{"allow_zero", true}});
  return d;
}

// The best `total` boxes of each sample, over all classes. The selected scores are written to a table
// [batch, classes * n], whose other entries are below all scores.
Status CombinedNms(TfNode& n) {
  TERN_ASSIGN(const Detections d, DetectionsOf(n));
  constexpr double kNone = -3.0e38;
  Value* selected =
      n.Op("NonMaxSuppression", {d.boxes, d.scores, I64(n, n.In(2)), F32(n, n.In(4)), F32(n, n.In(5))});
  Value* none = n.Op("Fill", {n.ShapeOf(d.scores)}, {{"value", Tensor::Of(DType::kF32, {1}, {kNone})}});
  Value* table = n.Op("ScatterND", {none, selected, n.Op("GatherND", {d.scores, selected})});
  Value* total = I64(n, n.In(3));
  if (n.Bool("pad_per_class")) total = n.Binary("min", total, n.Binary("mul", I64(n, n.In(2)), d.classes));
  Value* columns = n.Binary("mul", d.classes, d.n);
  table = n.Op("Reshape", {table, n.Concat({d.batch, columns}, 0)}, {{"allow_zero", true}});
  // TopK needs at least `total` columns.
  Value* missing = n.Binary("max", n.Binary("sub", total, columns), n.b.Ints({0}));
  table = n.Op("Pad",
               {table, n.Concat({n.b.Ints({0}), missing}, 0), n.b.Scalar(DType::kF32, kNone), n.b.Ints({1})});
  const auto best = n.Ops("TopK", {table, total}, {{"axis", -1}, {"sorted", true}}, 2);
  Value* valid = n.Binary("greater", best[0], n.b.Scalar(DType::kF32, kNone / 2));
  Value* at = n.Op("Where", {valid, best[1], n.b.Scalar(DType::kI64, 0)});
  Value* size = n.Binary("max", d.n, n.b.Ints({1}));
  Value* zero = n.b.Scalar(DType::kF32, 0);
  // Box i of class c of sample s is row (s * classes + c) * n + i of the boxes of all samples.
  Value* sample = n.Unsqueeze(
      n.Op("Range", {n.b.Scalar(DType::kI64, 0), n.Scalar(d.batch), n.b.Scalar(DType::kI64, 1)}), {1});
  Value* row = n.Binary("add", n.Binary("mul", sample, columns), at);
  Value* boxes = n.Op("Gather", {n.Reshape(d.boxes, {-1, 4}), row}, {{"axis", 0}});
  if (n.Bool("clip_boxes")) boxes = n.Op("Clip", {boxes, zero, n.b.Scalar(DType::kF32, 1)});
  n.Out(0, n.Op("Where", {n.Unsqueeze(valid, {2}), boxes, zero}));
  n.Out(1, n.Op("Where", {valid, best[0], zero}));
  n.Out(2, n.Op("Where", {valid, n.Cast(n.Binary("div", at, size), DType::kF32), zero}));
  n.Out(3, n.Reduce("sum", n.Cast(valid, DType::kI32), {1}, false));
  return {};
}

}  // namespace

TERN_CONVERTERS(detection) {
  for (const char* op : {"NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3"})
    table.Add(op, Nms);
  table.Add("NonMaxSuppressionV4", NmsV4);
  table.Add("NonMaxSuppressionV5", NmsV5);
  table.Add("CombinedNonMaxSuppression", CombinedNms);
}

}  // namespace tern::tensorflow
