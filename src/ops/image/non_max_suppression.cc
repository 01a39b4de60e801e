// NonMaxSuppression: selects boxes of each class in the order of their scores, except boxes that overlap a
// selected box.
#include <algorithm>
#include <cmath>

#include "ops/shape/axes.h"

namespace tern {
namespace {

struct NonMaxSuppression {
  bool center_point_box = false;
  template <class V> void Visit(V& v) {
    v("center_point_box", center_point_box,
      "boxes are [x, y, width, height], where (x, y) is the centre; otherwise [y1, x1, y2, x2]");
  }
};

Status Infer(const NonMaxSuppression&, InferContext& c) {
  const Shape &boxes = c.ShapeOf("boxes"), &scores = c.ShapeOf("scores");
  if (boxes.ranked && (boxes.rank() != 3 || (boxes[2].known() && !boxes[2].Is(4))))
    return InvalidModel("boxes must be [batch,boxes,4], got ", boxes.ToString());
  if (scores.ranked && scores.rank() != 3)
    return InvalidModel("scores must be [batch,classes,boxes], got ", scores.ToString());
  if (boxes.ranked && scores.ranked) {
    const bool same = (!boxes[0].known() || !scores[0].known() || boxes[0] == scores[0]) &&
                      (!boxes[1].known() || !scores[2].known() || boxes[1] == scores[2]);
    if (!same) return InvalidModel("boxes are ", boxes.ToString(), ", but scores are ", scores.ToString());
  }
  c.Out("selected", DType::kI64, Shape({Dim(), Dim(3)}));
  return {};
}

struct Box {
  float x0, y0, x1, y1;
  float Area() const { return (x1 - x0) * (y1 - y0); }
};

Box BoxAt(const NonMaxSuppression& op, const double* v) {
  const auto f = [&](int i) { return static_cast<float>(v[i]); };
  if (op.center_point_box) return {f(0) - f(2) / 2, f(1) - f(3) / 2, f(0) + f(2) / 2, f(1) + f(3) / 2};
  return {std::min(f(1), f(3)), std::min(f(0), f(2)), std::max(f(1), f(3)), std::max(f(0), f(2))};
}

bool Overlap(const Box& a, const Box& b, float threshold) {
  const float w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0),
              h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (!(w > 0 && h > 0) || a.Area() <= 0 || b.Area() <= 0) return false;
  const float intersection = w * h, union_area = a.Area() + b.Area() - intersection;
  return union_area > 0 && intersection / union_area > threshold;
}

double ScalarOr(const EvalContext& c, const char* port, double otherwise) {
  return c.Has(port) && c.In(port).size() > 0 ? LoadDouble(c.In(port), 0) : otherwise;
}

Status Reference(const NonMaxSuppression& op, EvalContext& c) {
  const auto boxes = c.Doubles("boxes"), scores = c.Doubles("scores");
  const int64_t batch = c.In("boxes").dim(0), count = c.In("boxes").dim(1), classes = c.In("scores").dim(1);
  const double max_output = ScalarOr(c, "max_output", 0),
               min_score = ScalarOr(c, "score_threshold", -INFINITY);
  const auto threshold = static_cast<float>(ScalarOr(c, "iou_threshold", 0));
  const bool filter = c.Has("score_threshold");
  std::vector<int64_t> selected;
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t k = 0; k < classes; ++k) {
      const double* score = scores.data() + (n * classes + k) * count;
      std::vector<int64_t> order;
      for (int64_t i = 0; i < count; ++i)
        if (!filter || score[i] > min_score) order.push_back(i);
      const auto key = [&](int64_t i) { return std::isnan(score[i]) ? -INFINITY : score[i]; };
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return key(a) > key(b); });
      std::vector<Box> kept;
      for (int64_t i : order) {
        if (static_cast<double>(kept.size()) >= max_output) break;
        const Box box = BoxAt(op, boxes.data() + (n * count + i) * 4);
        if (std::any_of(kept.begin(), kept.end(), [&](const Box& b) { return Overlap(box, b, threshold); }))
          continue;
        kept.push_back(box);
        selected.insert(selected.end(), {n, k, i});
      }
    }
  c.OutLongs("selected", {static_cast<int64_t>(selected.size()) / 3, 3}, selected);
  return {};
}

}  // namespace

TERN_OP(NonMaxSuppression) {
  return OpDef::Of<NonMaxSuppression>(
             "the indices [sample, class, box] of the selected boxes: per class, those with the best scores, except boxes that overlap a selected box")
      .In("boxes", kFloats)
      .In("scores", kFloats)
      .OptSetting("max_output", kIndices)
      .OptSetting("iou_threshold", kFloats)
      .OptSetting("score_threshold", kFloats)
      .Out("selected", SetOf(DType::kI64))
      .Flops(No{"a search has no arithmetic"})
      .Batch(No{"the size of the result is known at run time only"})
      .Axes(No{"the result contains positions along axes"})
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
