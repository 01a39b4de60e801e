// DetectionOutput: the boxes that an SSD detector finds.
#include <algorithm>
#include <cmath>

#include "ops/shape/axes.h"

namespace tern {
namespace {

enum class Code { kCorner, kCenterSize, kCornerSize };

struct DetectionOutput {
  int64_t classes = 1, background = 0, top_k = -1, keep_top_k = -1;
  float iou_threshold = 0.3F, score_threshold = 0, eta = 1;
  bool share_location = true, variance_in_target = false, clip = false;
  Code code = Code::kCorner;
  template <class V> void Visit(V& v) {
    v("classes", classes, "number of classes");
    v("background", background, "the class that is not detected; -1 means that there is none");
    v("top_k", top_k, "number of boxes per class that are considered, the best ones; -1 means all");
    v("keep_top_k", keep_top_k, "number of boxes per image that are returned, the best ones; -1 means all");
    v("iou_threshold", iou_threshold, "a box that overlaps a better one of its class by more is removed");
    v("score_threshold", score_threshold, "boxes with scores up to this one are removed");
    v("eta", eta, "if below 1, each kept box multiplies an iou_threshold above 0.5 by eta");
    v("share_location", share_location, "all classes have the same boxes");
    v("variance_in_target", variance_in_target, "loc is not multiplied by the variances");
    v("clip", clip, "limit coordinates to [0, 1]");
    v.Enum("code", code, {"corner", "center_size", "corner_size"}, "how loc and prior give a box");
  }
};

Status Infer(const DetectionOutput& op, InferContext& c) {
  const Shape &loc = c.ShapeOf("loc"), &conf = c.ShapeOf("conf"), &prior = c.ShapeOf("prior");
  if (op.classes < 1) return InvalidModel("classes is ", op.classes, ", but must be positive");
  if (loc.ranked && loc.rank() != 2) return InvalidModel("loc must be [batch,boxes*4], got ", loc.ToString());
  if (conf.ranked && conf.rank() != 2)
    return InvalidModel("conf must be [batch,boxes*classes], got ", conf.ToString());
  const int64_t rows = op.variance_in_target ? 1 : 2;
  if (prior.ranked && (prior.rank() != 3 || (prior[1].known() && prior[1].value() < rows)))
    return InvalidModel("prior must be [1,", rows, ",boxes*4], got ", prior.ToString());
  c.Out("y", c.TypeOf("loc"), Shape({Dim(1), Dim(1), Dim(), Dim(7)}));
  return {};
}

struct DecodedBox {
  float x0, y0, x1, y1;
  float Area() const { return x1 < x0 || y1 < y0 ? 0 : (x1 - x0) * (y1 - y0); }
};

float Overlap(const DecodedBox& a, const DecodedBox& b) {
  const float w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0),
              h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (!(w > 0 && h > 0)) return 0;
  return w * h / (a.Area() + b.Area() - w * h);
}

DecodedBox Decoded(const DetectionOutput& op, const float* loc, const float* prior, const float* variance) {
  float v[4];
  for (int i = 0; i < 4; ++i) v[i] = op.variance_in_target ? loc[i] : variance[i] * loc[i];
  const float width = prior[2] - prior[0], height = prior[3] - prior[1];
  DecodedBox box{};
  if (op.code == Code::kCorner) {
    box = {prior[0] + v[0], prior[1] + v[1], prior[2] + v[2], prior[3] + v[3]};
  } else if (op.code == Code::kCornerSize) {
    box = {prior[0] + v[0] * width, prior[1] + v[1] * height, prior[2] + v[2] * width,
           prior[3] + v[3] * height};
  } else {
    const float x = v[0] * width + (prior[0] + prior[2]) / 2, y = v[1] * height + (prior[1] + prior[3]) / 2;
    const float w = std::exp(v[2]) * width / 2, h = std::exp(v[3]) * height / 2;
    box = {x - w, y - h, x + w, y + h};
  }
  if (op.clip)
    for (float* side : {&box.x0, &box.y0, &box.x1, &box.y1}) *side = std::clamp(*side, 0.0F, 1.0F);
  return box;
}

struct Found {
  float score;
  int64_t label, index;
  DecodedBox box;  // set for the candidates of the suppression
};

bool Better(const Found& a, const Found& b) { return a.score > b.score; }

// Appends the boxes of one class that are left after the suppression, the best one first.
template <class Boxes, class Scores>
void Suppress(const DetectionOutput& op, int64_t label, int64_t count, const Scores& score, const Boxes& box,
              std::vector<Found>& all) {
  std::vector<Found> candidates;
  for (int64_t i = 0; i < count; ++i)
    if (score(i) > op.score_threshold) candidates.push_back({score(i), label, i, {}});
  std::stable_sort(candidates.begin(), candidates.end(), Better);
  if (op.top_k >= 0 && op.top_k < static_cast<int64_t>(candidates.size()))
    candidates.resize(static_cast<size_t>(op.top_k));
  const size_t first = all.size();
  float threshold = op.iou_threshold;
  for (Found& next : candidates) {
    next.box = box(next.index);
    bool keep = true;
    for (size_t i = first; keep && i < all.size(); ++i) keep = !(Overlap(next.box, all[i].box) > threshold);
    if (!keep) continue;
    all.push_back(next);
    if (op.eta < 1 && threshold > 0.5F) threshold *= op.eta;
  }
}

std::vector<float> Floats(const Tensor& t) {
  const auto doubles = ToDoubles(t);
  return {doubles.begin(), doubles.end()};
}

Status CheckSizes(const DetectionOutput& op, const Tensor& loc, const Tensor& conf, const Tensor& prior) {
  const int64_t count = prior.dim(2) / 4, places = op.share_location ? 1 : op.classes;
  if (loc.dim(0) != conf.dim(0) || loc.dim(1) != count * places * 4 || conf.dim(1) != count * op.classes)
    return InvalidArgument("loc is ", loc.Describe(), " and conf ", conf.Describe(), ", but ", count,
                           " boxes of ", op.classes, " classes are expected");
  return {};
}

// Writes rows [image, class, score, x0, y0, x1, y1], sorted by image, class and score.
Status Reference(const DetectionOutput& op, EvalContext& c) {
  TERN_TRY(CheckSizes(op, c.In("loc"), c.In("conf"), c.In("prior")));
  const auto loc = Floats(c.In("loc")), conf = Floats(c.In("conf")), prior = Floats(c.In("prior"));
  const int64_t batch = c.In("loc").dim(0), count = c.In("prior").dim(2) / 4;
  const int64_t places = op.share_location ? 1 : op.classes;
  std::vector<double> rows;
  for (int64_t n = 0; n < batch; ++n) {
    const float* scores = conf.data() + n * count * op.classes;
    const auto box = [&](int64_t label, int64_t i) {
      const int64_t at = (n * count + i) * places + (op.share_location ? 0 : label);
      return Decoded(op, loc.data() + at * 4, prior.data() + i * 4, prior.data() + (count + i) * 4);
    };
    std::vector<Found> found;
    for (int64_t label = 0; label < op.classes; ++label)
      if (label != op.background)
        Suppress(
            op, label, count, [&](int64_t i) { return scores[i * op.classes + label]; },
            [&](int64_t i) { return box(label, i); }, found);
    if (op.keep_top_k >= 0 && op.keep_top_k < static_cast<int64_t>(found.size())) {
      std::stable_sort(found.begin(), found.end(), Better);
      found.resize(static_cast<size_t>(op.keep_top_k));
      std::stable_sort(found.begin(), found.end(),
                       [](const Found& a, const Found& b) { return a.label < b.label; });
    }
    for (const Found& f : found)
      rows.insert(rows.end(), {static_cast<double>(n), static_cast<double>(f.label), f.score, f.box.x0,
                               f.box.y0, f.box.x1, f.box.y1});
  }
  const bool empty = rows.empty();
  for (int64_t n = 0; empty && n < batch; ++n)
    rows.insert(rows.end(), {static_cast<double>(n), -1, -1, -1, -1, -1, -1});
  c.Out("y", {1, 1, static_cast<int64_t>(rows.size()) / 7, 7}, rows);
  return {};
}

}  // namespace

TERN_OP(DetectionOutput) {
  return OpDef::Of<DetectionOutput>(
             "rows [image, class, score, x0, y0, x1, y1] of the boxes that an SSD detector finds; if there are none, one row [image, -1, …] per image")
      .In("loc", kFloats)
      .In("conf", kFloats)
      .In("prior", kFloats)
      .Out("y", kFloats)
      .Flops(No{"a search has no arithmetic"})
      .Batch(No{"the size of the result is known at run time only"})
      .Axes(No{"the result contains positions along axes"})
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
