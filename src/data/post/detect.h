// Turns the outputs of detectors into boxes. The boxes are in the units of the model: pixels of the input, or
// 0 to 1. MapToPicture moves them to the picture.
#pragma once
#include <optional>
#include <vector>

#include "data/post/boxes.h"

namespace tern::data {

struct DetectOptions {
  float least_score = 0.25f;
  float iou_threshold = 0.45f;  // 1 or more: no suppression
  bool per_class = true;
  int64_t limit = 300;          // boxes of one picture
  int64_t candidates = 30'000;  // boxes before suppression; those with the best scores are kept
  BoxFormat format = BoxFormat::kCxcywh;
  std::optional<int64_t> background;  // a class that is never an answer
};

// Each function returns one list per picture of the batch, by decreasing score. Each fails if the dims do not
// fit, and names them.

// YOLO heads: [N, B, 4+C] or, with `objectness`, [N, B, 5+C], where the score of a class is multiplied by the
// fifth element. If `transposed` is true, the dims are [N, 4+C, B]. If it is nullopt, the smaller of the last
// two dims is the number of features. In all functions, a missing batch axis means a batch of 1.
Result<std::vector<std::vector<Box>>> DetectYolo(const Tensor& output, bool objectness,
                                                 std::optional<bool> transposed,
                                                 const DetectOptions& options);
// SSD and UltraFace: `boxes` [N, B, 4] with priors already applied, `scores` [N, B, C] as probabilities.
// Each class of a box whose score is at least `least_score` is a candidate.
Result<std::vector<std::vector<Box>>> DetectSsd(const Tensor& boxes, const Tensor& scores,
                                                const DetectOptions& options);
// DETR: `logits` [N, Q, C+1], whose last class is "no object", and `boxes` [N, Q, 4] in options.format
// (DETR's own is cxcywh, normalised). There is no suppression.
Result<std::vector<std::vector<Box>>> DetectDetr(const Tensor& logits, const Tensor& boxes,
                                                 const DetectOptions& options);
// Models that end in their own suppression: boxes [N, B, 4], scores [N, B], labels [N, B], and the number of
// boxes [N], which may be null (`count`).
Result<std::vector<std::vector<Box>>> DetectReady(const Tensor& boxes, const Tensor& scores,
                                                  const Tensor& labels, const Tensor* count,
                                                  const DetectOptions& options);

}  // namespace tern::data
