// Boxes of detected objects: formats, suppression of overlaps, and positions in the source picture.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/tensor.h"
#include "data/image/to_tensor.h"

namespace tern::data {

struct Box {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // the corners; x1 and y1 are exclusive
  float score = 0;
  int64_t label = 0;
};

enum class BoxFormat { kXyxy, kYxyx, kXywh, kCxcywh };       // kXywh has the upper left corner and the size
Result<BoxFormat> BoxFormatFromName(std::string_view name);  // "xyxy", "yxyx", "xywh", "cxcywh"
// Converts four numbers in a format to corners.
Box MakeBox(BoxFormat format, const float* four);

// Returns the intersection over union. It is 0 if both boxes are empty.
float Iou(const Box& a, const Box& b);

// Greedy suppression: takes boxes by decreasing score and drops each one whose IoU with a taken box is above
// the threshold. Equal scores are ordered by index. With `per_class`, only boxes of one label suppress each
// other. Boxes with a NaN score, or with a corner that is not finite, are dropped. Returns the indices of the
// taken boxes, at most `limit`, by decreasing score.
std::vector<size_t> Nms(const std::vector<Box>& boxes, float iou_threshold, bool per_class,
                        size_t limit = SIZE_MAX);
// Gaussian soft suppression: instead of dropping an overlapping box, multiplies its score by
// exp(-iou^2 / sigma). Boxes whose score falls below `least_score` are dropped. Returns the boxes with their
// new scores, by decreasing score.
std::vector<Box> SoftNms(std::vector<Box> boxes, float sigma, float least_score, bool per_class);

// Moves boxes from the tensor of a picture to the picture, and clips them. Normalised boxes have corners from
// 0 to 1 instead of pixels of the tensor. Boxes that are empty after clipping, or not finite, are dropped.
std::vector<Box> MapToPicture(const std::vector<Box>& boxes, const Placement& placement, bool normalised);

}  // namespace tern::data
