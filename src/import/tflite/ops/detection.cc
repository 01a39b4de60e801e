// Converts the selection of boxes: non-maximum suppression, and the custom operator
// TFLite_Detection_PostProcess.
#include <cmath>
#include <cstring>

#include <flatbuffers/flexbuffers.h>

#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

// Pads the first axis with zeros, or truncates it, to `size` elements.
Value* PaddedTo(Builder& b, Value* v, Value* size) {
  v = b.Op("Slice", {v, b.Ints({0}), size, b.Ints({0})});
  Value* missing = Binary(b, "sub", size, DimOf(b, v, 0));
  return b.Op("Pad", {v, Joined(b, {b.Ints({0}), missing}, 0), nullptr, b.Ints({0})});
}

// Returns the indices of the boxes that remain, [k]. `boxes` is [n, 4], `scores` is [n].
Value* Suppressed(Builder& b, Value* boxes, Value* scores, Value* most, Value* iou, Value* least) {
  Value* chosen =
      b.Op("NonMaxSuppression", {Unsqueezed(b, boxes, {0}), Unsqueezed(b, scores, {0, 1}), most, iou, least});
  return Flat(b, Sliced(b, chosen, 1, 2, 3));
}

// Inputs: boxes, scores, the number of results, the threshold of overlaps, the threshold of scores, and in V5
// the deviation of soft suppression.
Status NonMaxSuppression(LiteNode& n) {
  Builder& b = n.b;
  const bool v5 = n.op() == "NON_MAX_SUPPRESSION_V5";
  if (v5) {
    const Tensor* sigma = n.Constant(5);
    if (!sigma || sigma->size() != 1 || LoadDouble(*sigma, 0) != 0) return n.NotYet("soft suppression");
  }
  Value* most = Reshaped(b, Longs64(b, n.In(2)), {1});
  Value* chosen = Suppressed(b, n.In(0), n.In(1), most, Reshaped(b, n.In(3), {1}), Reshaped(b, n.In(4), {1}));
  n.Out(0, PaddedTo(b, chosen, most));
  Value* count = Reshaped(b, DimOf(b, chosen, 0), {});
  if (v5) n.Out(1, PaddedTo(b, b.Op("Gather", {n.In(1), chosen}), most));
  n.Out(v5 ? 2 : 1, count);
  return {};
}

struct PostProcess {
  int64_t max_detections = 0, max_classes = 1, per_class = 100, classes = 0;
  bool regular = false;
  double score = 0, iou = 0, y = 1, x = 1, h = 1, w = 1;
};

// Returns an option that must be positive. It may be stored as a float.
Result<int64_t> PositiveOf(LiteNode& n, const flexbuffers::Reference& option) {
  if (option.IsFloat()) {
    const double v = option.AsDouble();
    if (!(v >= 1 && v <= INT32_MAX)) return n.Bad("an option is ", v, ", but must be positive");
    return static_cast<int64_t>(v);
  }
  const int64_t v = option.AsInt64();
  if (v < 1 || v > INT32_MAX) return n.Bad("an option is ", v, ", but must be positive");
  return v;
}

Result<PostProcess> ReadOptions(LiteNode& n) {
  TERN_ASSIGN(const Buffer bytes, n.importer().context().model.CustomOptions(n.proto()));
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  std::vector<uint8_t> tracker;
  if (!bytes.defined() || !flexbuffers::VerifyBuffer(data, bytes.size(), &tracker))
    return n.Bad("its options are broken");
  const flexbuffers::Reference root = flexbuffers::GetRoot(data, bytes.size());
  if (!root.IsMap()) return n.Bad("its options are not a map");
  const flexbuffers::Map map = root.AsMap();
  PostProcess p;
  TERN_ASSIGN(p.max_detections, PositiveOf(n, map["max_detections"]));
  TERN_ASSIGN(p.max_classes, PositiveOf(n, map["max_classes_per_detection"]));
  if (!map["detections_per_class"].IsNull()) {
    TERN_ASSIGN(p.per_class, PositiveOf(n, map["detections_per_class"]));
  }
  const flexbuffers::Reference regular = map["use_regular_nms"];
  p.regular = regular.IsFloat() ? regular.AsDouble() != 0 : regular.AsBool();
  TERN_ASSIGN(p.classes, PositiveOf(n, map["num_classes"]));
  p.score = map["nms_score_threshold"].AsDouble(), p.iou = map["nms_iou_threshold"].AsDouble();
  p.y = map["y_scale"].AsDouble(), p.x = map["x_scale"].AsDouble(), p.h = map["h_scale"].AsDouble(),
  p.w = map["w_scale"].AsDouble();
  for (double v : {p.y, p.x, p.h, p.w})
    if (!(v > 0)) return n.Bad("a scale of the boxes is ", v, ", but must be positive");
  return p;
}

// Returns the corners [n, 4] of boxes that are encoded relative to anchors. Boxes and anchors contain the
// centre, then the size.
Value* Decoded(LiteNode& n, const PostProcess& p) {
  Builder& b = n.b;
  Value* scales = b.Const(Tensor::Of(DType::kF32, {4}, {p.y, p.x, p.h, p.w}));
  Value* encoded = Binary(
      b, "div",
      Sliced(
          b,
          Reshaped(b, n.Real(0), {-1, n.In(0)->type.shape[-1].known() ? n.In(0)->type.shape[-1].value() : 4}),
          1, 0, 4),
      scales);
  Value* anchors = n.Real(2);
  const auto part = [&](Value* v, int64_t from) { return Sliced(b, v, 1, from, from + 2); };
  Value* centre = Binary(b, "add", Binary(b, "mul", part(encoded, 0), part(anchors, 2)), part(anchors, 0));
  Value* half = Binary(b, "mul", Binary(b, "mul", Unary(b, "exp", part(encoded, 2)), part(anchors, 2)),
                       b.Scalar(DType::kF32, 0.5));
  return Joined(b, {Binary(b, "sub", centre, half), Binary(b, "add", centre, half)}, 1);
}

struct Detections {
  Value *boxes = nullptr, *classes = nullptr, *scores = nullptr;
  Value* count = nullptr;  // the number of boxes, as a vector with one element
};

// Finds the best classes of each box first. Then runs one suppression for all classes.
Detections Fast(Builder& b, const PostProcess& p, Value* boxes, Value* scores,
                const std::vector<Value*>& thresholds) {
  const int64_t best = std::min(p.max_classes, p.classes);
  const auto top = b.Ops("TopK", {scores, b.Ints({best})}, {{"axis", int64_t{-1}}}, 2);
  Value* chosen = Suppressed(b, boxes, Flat(b, Sliced(b, top[0], 1, 0, 1)), b.Ints({p.max_detections}),
                             thresholds[0], thresholds[1]);
  const auto rows = [&](Value* v) { return b.Op("Gather", {v, chosen}, {{"axis", int64_t{0}}}); };
  Value* repeated = Unsqueezed(b, rows(boxes), {1});
  repeated = Reshaped(b, b.Op("Tile", {repeated, b.Ints({1, best, 1})}), {-1, 4});
  return {repeated, Flat(b, rows(top[1])), Flat(b, rows(top[0])), DimOf(b, chosen, 0)};
}

// Runs one suppression per class. Sorts the results of all classes together.
Detections Regular(Builder& b, const PostProcess& p, Value* boxes, Value* scores,
                   const std::vector<Value*>& thresholds) {
  Value* chosen =
      b.Op("NonMaxSuppression", {Unsqueezed(b, boxes, {0}), Unsqueezed(b, Transposed(b, scores, {1, 0}), {0}),
                                 b.Ints({p.per_class}), thresholds[0], thresholds[1]});
  Value *cls = Sliced(b, chosen, 1, 1, 2), *box = Sliced(b, chosen, 1, 2, 3);
  Value* score = b.Op("GatherND", {scores, Joined(b, {box, cls}, 1)});
  Value* count = Binary(b, "min", DimOf(b, chosen, 0), b.Ints({p.max_detections}));
  const auto top = b.Ops("TopK", {score, count}, {{"axis", int64_t{0}}}, 2);
  const auto rows = [&](Value* v) { return b.Op("Gather", {v, top[1]}, {{"axis", int64_t{0}}}); };
  return {b.Op("Gather", {boxes, rows(Flat(b, box))}, {{"axis", int64_t{0}}}), rows(Flat(b, cls)), top[0],
          count};
}

Status DetectionPostProcess(LiteNode& n) {
  Builder& b = n.b;
  TERN_ASSIGN(const PostProcess p, ReadOptions(n));
  if (n.RankOf(0) != 3 || n.RankOf(1) != 3 || n.RankOf(2) != 2)
    return n.Bad("the inputs must have 3, 3 and 2 dims");
  const Dim& columns = n.In(1)->type.shape[2];
  if (!columns.known() || columns.value() < p.classes || columns.value() > p.classes + 1)
    return n.Bad("the scores are of ", columns.ToString(), " classes, the options say ", p.classes);
  Value* boxes = Decoded(n, p);
  // The first class may be the background.
  Value* scores = Reshaped(b, n.Real(1), {-1, columns.value()});
  scores = Sliced(b, scores, 1, columns.value() - p.classes, columns.value());
  const auto number = [&](double v) { return b.Const(Tensor::Of(DType::kF32, {1}, {v})); };
  // Scores equal to the threshold remain.
  const float least = std::nextafter(static_cast<float>(p.score), -INFINITY);
  const std::vector<Value*> thresholds = {number(p.iou), number(static_cast<double>(least))};
  const Detections d =
      p.regular ? Regular(b, p, boxes, scores, thresholds) : Fast(b, p, boxes, scores, thresholds);
  const int64_t rows = p.regular ? p.max_detections : p.max_detections * p.max_classes;
  Value* size = b.Ints({rows});
  n.Out(0, Unsqueezed(b, PaddedTo(b, d.boxes, size), {0}));
  n.Out(1, Unsqueezed(b, PaddedTo(b, CastTo(b, d.classes, DType::kF32), size), {0}));
  n.Out(2, Unsqueezed(b, PaddedTo(b, d.scores, size), {0}));
  n.Out(3, CastTo(b, d.count, DType::kF32));
  return {};
}

}  // namespace

TERN_CONVERTERS(detection) {
  table.Add("NON_MAX_SUPPRESSION_V4", 5, NonMaxSuppression);
  table.Add("NON_MAX_SUPPRESSION_V5", 6, NonMaxSuppression);
  table.Add("CUSTOM:TFLite_Detection_PostProcess", 3, DetectionPostProcess);
}

}  // namespace tern::tflite
