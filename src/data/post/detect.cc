#include "data/post/detect.h"

#include <algorithm>
#include <cmath>

#include "data/post/floats.h"
#include "data/post/topk.h"

namespace tern::data {
namespace {

using Batch = std::vector<std::vector<Box>>;

// Returns the tensor as f32 with a batch axis and `rank` axes in all.
Result<Tensor> Batched(const Tensor& t, int rank, const char* name) {
  TERN_ASSIGN(const Tensor floats, AsFloats(t));
  if (floats.rank() != rank && floats.rank() != rank - 1)
    return InvalidArgument(name, " must have rank ", rank, " or ", rank - 1, ", got ", t.Describe());
  if (floats.rank() == rank) return floats;
  Dims dims = floats.dims();
  dims.insert(dims.begin(), 1);
  return floats.Reshaped(dims);
}

// Keeps the candidates with the best scores, suppresses overlaps and applies the limit.
std::vector<Box> Select(std::vector<Box> boxes, const DetectOptions& o, bool suppress) {
  const auto most = static_cast<size_t>(std::max<int64_t>(0, o.candidates));
  const auto better = [](const Box& a, const Box& b) { return a.score > b.score; };
  std::stable_sort(boxes.begin(), boxes.end(), better);
  if (boxes.size() > most) boxes.resize(most);
  const float threshold = suppress && o.iou_threshold < 1 ? o.iou_threshold : 2;
  std::vector<Box> out;
  const auto limit = static_cast<size_t>(std::max<int64_t>(0, o.limit));
  if (threshold > 1) {
    for (const Box& b : boxes)
      if (out.size() < limit) out.push_back(b);
    return out;
  }
  for (const size_t i : Nms(boxes, threshold, o.per_class, limit)) out.push_back(boxes[i]);
  return out;
}

// The features of one box, which need not be adjacent.
struct Features {
  const float* data;
  int64_t step;
  float operator[](int64_t i) const { return data[i * step]; }
};

struct Best {
  int64_t label = -1;
  float score = 0;
};

Best BestClass(const Features& f, int64_t first, int64_t classes, const std::optional<int64_t>& background) {
  Best best;
  for (int64_t c = 0; c < classes; ++c)
    if (c != background && (best.label < 0 || f[first + c] > best.score)) best = {c, f[first + c]};
  return best;
}

Box BoxAt(const Features& f, const DetectOptions& o) {
  const float four[4] = {f[0], f[1], f[2], f[3]};
  return MakeBox(o.format, four);
}

}  // namespace

Result<Batch> DetectYolo(const Tensor& output, bool objectness, std::optional<bool> transposed,
                         const DetectOptions& o) {
  TERN_ASSIGN(const Tensor t, Batched(output, 3, "a YOLO output"));
  const bool flipped = transposed.value_or(t.dim(1) < t.dim(2));
  const int64_t count = t.dim(flipped ? 2 : 1), features = t.dim(flipped ? 1 : 2), first = objectness ? 5 : 4;
  if (features <= first)
    return InvalidArgument("a YOLO output of ", output.Describe(), " has ", features,
                           " features per box; at least ", first + 1, " are needed");
  Batch out;
  for (int64_t n = 0; n < t.dim(0); ++n) {
    std::vector<Box> boxes;
    const float* data = t.data<float>() + n * count * features;
    for (int64_t i = 0; i < count; ++i) {
      const Features f{data + (flipped ? i : i * features), flipped ? count : 1};
      if (objectness && !(f[4] >= o.least_score))
        continue;  // the class's factor is at most 1, so the score cannot reach least_score
      const Best best = BestClass(f, first, features - first, o.background);
      const float score = objectness ? best.score * f[4] : best.score;
      if (best.label < 0 || !(score >= o.least_score)) continue;
      Box box = BoxAt(f, o);
      box.score = score;
      box.label = best.label;
      boxes.push_back(box);
    }
    out.push_back(Select(std::move(boxes), o, true));
  }
  return out;
}

Result<Batch> DetectSsd(const Tensor& boxes_in, const Tensor& scores_in, const DetectOptions& o) {
  TERN_ASSIGN(const Tensor boxes, Batched(boxes_in, 3, "boxes"));
  TERN_ASSIGN(const Tensor scores, Batched(scores_in, 3, "scores"));
  if (boxes.dim(2) != 4 || boxes.dim(0) != scores.dim(0) || boxes.dim(1) != scores.dim(1))
    return InvalidArgument("boxes ", boxes_in.Describe(), " and scores ", scores_in.Describe(),
                           " must be [N,B,4] and [N,B,C]");
  const int64_t count = boxes.dim(1), classes = scores.dim(2);
  Batch out;
  for (int64_t n = 0; n < boxes.dim(0); ++n) {
    std::vector<Box> found;
    for (int64_t i = n * count; i < (n + 1) * count; ++i)
      for (int64_t c = 0; c < classes; ++c) {
        const float score = scores.data<float>()[i * classes + c];
        if (c == o.background || !(score >= o.least_score)) continue;
        Box box = MakeBox(o.format, boxes.data<float>() + i * 4);
        box.score = score;
        box.label = c;
        found.push_back(box);
      }
    out.push_back(Select(std::move(found), o, true));
  }
  return out;
}

Result<Batch> DetectDetr(const Tensor& logits, const Tensor& boxes_in, const DetectOptions& o) {
  TERN_ASSIGN(const Tensor raw, Batched(logits, 3, "logits"));
  TERN_ASSIGN(const Tensor boxes, Batched(boxes_in, 3, "boxes"));
  if (boxes.dim(2) != 4 || raw.dim(2) < 2 || boxes.dim(0) != raw.dim(0) || boxes.dim(1) != raw.dim(1))
    return InvalidArgument("logits ", logits.Describe(), " and boxes ", boxes_in.Describe(),
                           " must be [N,Q,C+1] and [N,Q,4]");
  TERN_ASSIGN(const Tensor scores, Softmax(raw));
  const int64_t count = boxes.dim(1), classes = raw.dim(2);
  Batch out;
  for (int64_t n = 0; n < boxes.dim(0); ++n) {
    std::vector<Box> found;
    for (int64_t i = n * count; i < (n + 1) * count; ++i) {
      const Best best = BestClass({scores.data<float>() + i * classes, 1}, 0, classes - 1, o.background);
      if (best.label < 0 || !(best.score >= o.least_score)) continue;
      Box box = MakeBox(o.format, boxes.data<float>() + i * 4);
      box.score = best.score;
      box.label = best.label;
      found.push_back(box);
    }
    out.push_back(Select(std::move(found), o, false));
  }
  return out;
}

Result<Batch> DetectReady(const Tensor& boxes_in, const Tensor& scores_in, const Tensor& labels_in,
                          const Tensor* count_in, const DetectOptions& o) {
  TERN_ASSIGN(const Tensor boxes, Batched(boxes_in, 3, "boxes"));
  TERN_ASSIGN(const Tensor scores, Batched(scores_in, 2, "scores"));
  TERN_ASSIGN(const Tensor labels, Batched(labels_in, 2, "labels"));
  const Dims wanted{boxes.dim(0), boxes.dim(1)};
  if (boxes.dim(2) != 4 || scores.dims() != wanted || labels.dims() != wanted)
    return InvalidArgument("boxes ", boxes_in.Describe(), ", scores ", scores_in.Describe(), " and labels ",
                           labels_in.Describe(), " must be [N,B,4], [N,B] and [N,B]");
  std::vector<double> counts(static_cast<size_t>(boxes.dim(0)), static_cast<double>(boxes.dim(1)));
  if (count_in) {
    TERN_ASSIGN(const Tensor given, AsFloats(*count_in));
    if (given.size() != boxes.dim(0))
      return InvalidArgument("the number of boxes has ", count_in->Describe(), " for a batch of ",
                             boxes.dim(0));
    counts = ToDoubles(given);
  }
  Batch out;
  for (int64_t n = 0; n < boxes.dim(0); ++n) {
    std::vector<Box> found;
    for (int64_t k = 0; k < boxes.dim(1) && k < counts[static_cast<size_t>(n)]; ++k) {
      const int64_t i = n * boxes.dim(1) + k;
      Box box = MakeBox(o.format, boxes.data<float>() + i * 4);
      box.score = scores.data<float>()[i];
      const float label = labels.data<float>()[i];
      box.label = label >= 0 && label < 1e9f ? std::lround(label) : -1;
      if (box.score >= o.least_score && box.label != o.background) found.push_back(box);
    }
    out.push_back(Select(std::move(found), o, false));
  }
  return out;
}

}  // namespace tern::data
