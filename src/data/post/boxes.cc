#include "data/post/boxes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tern::data {
namespace {

float Area(const Box& b) { return std::max(0.f, b.x1 - b.x0) * std::max(0.f, b.y1 - b.y0); }

bool IsFinite(const Box& b) {
  return std::isfinite(b.x0) && std::isfinite(b.y0) && std::isfinite(b.x1) && std::isfinite(b.y1) &&
         !std::isnan(b.score);
}

// Returns the indices of valid boxes by decreasing score.
std::vector<size_t> ByScore(const std::vector<Box>& boxes) {
  std::vector<size_t> order;
  for (size_t i = 0; i < boxes.size(); ++i)
    if (IsFinite(boxes[i])) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return boxes[a].score != boxes[b].score ? boxes[a].score > boxes[b].score : a < b;
  });
  return order;
}

}  // namespace

Result<BoxFormat> BoxFormatFromName(std::string_view name) {
  constexpr std::pair<std::string_view, BoxFormat> names[] = {{"xyxy", BoxFormat::kXyxy},
                                                              {"yxyx", BoxFormat::kYxyx},
                                                              {"xywh", BoxFormat::kXywh},
                                                              {"cxcywh", BoxFormat::kCxcywh}};
  for (const auto& [text, format] : names)
    if (text == name) return format;
  return InvalidArgument("unknown box format '", name, "'; choose one of xyxy, yxyx, xywh, cxcywh");
}

Box MakeBox(BoxFormat format, const float* v) {
  switch (format) {
    case BoxFormat::kXyxy:
      return {v[0], v[1], v[2], v[3]};
    case BoxFormat::kYxyx:
      return {v[1], v[0], v[3], v[2]};
    case BoxFormat::kXywh:
      return {v[0], v[1], v[0] + v[2], v[1] + v[3]};
    default:
      return {v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2};
  }
}

float Iou(const Box& a, const Box& b) {
  const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0),
              height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (width <= 0 || height <= 0) return 0;
  const float common = width * height, all = Area(a) + Area(b) - common;
  return all > 0 ? common / all : 0;
}

std::vector<size_t> Nms(const std::vector<Box>& boxes, float iou_threshold, bool per_class, size_t limit) {
  std::vector<size_t> taken;
  for (const size_t i : ByScore(boxes)) {
    if (taken.size() == limit) break;
    const bool suppressed = std::any_of(taken.begin(), taken.end(), [&](size_t t) {
      return (!per_class || boxes[t].label == boxes[i].label) && Iou(boxes[t], boxes[i]) > iou_threshold;
    });
    if (!suppressed) taken.push_back(i);
  }
  return taken;
}

std::vector<Box> SoftNms(std::vector<Box> boxes, float sigma, float least_score, bool per_class) {
  std::erase_if(boxes, [&](const Box& b) { return !IsFinite(b) || b.score < least_score; });
  std::vector<Box> taken;
  while (!boxes.empty()) {
    const auto best = std::max_element(boxes.begin(), boxes.end(),
                                       [](const Box& a, const Box& b) { return a.score < b.score; });
    const Box box = *best;
    boxes.erase(best);
    taken.push_back(box);
    for (Box& b : boxes)
      if (!per_class || b.label == box.label) {
        const float iou = Iou(b, box);
        b.score *= std::exp(-iou * iou / sigma);
      }
    std::erase_if(boxes, [&](const Box& b) { return b.score < least_score; });
  }
  return taken;
}

std::vector<Box> MapToPicture(const std::vector<Box>& boxes, const Placement& p, bool normalised) {
  const double unit_x = normalised ? p.tensor.width : 1, unit_y = normalised ? p.tensor.height : 1;
  const auto x = [&](float v) {
    return static_cast<float>(std::clamp((v * unit_x - p.offset_x) / p.scale_x, 0.0, p.picture.width + 0.0));
  };
  const auto y = [&](float v) {
    return static_cast<float>(std::clamp((v * unit_y - p.offset_y) / p.scale_y, 0.0, p.picture.height + 0.0));
  };
  std::vector<Box> out;
  for (const Box& b : boxes) {
    if (!IsFinite(b)) continue;
    Box mapped{x(b.x0), y(b.y0), x(b.x1), y(b.y1), b.score, b.label};
    if (p.scale_x < 0) std::swap(mapped.x0, mapped.x1);  // the tensor is mirrored
    if (mapped.x0 < mapped.x1 && mapped.y0 < mapped.y1) out.push_back(mapped);
  }
  return out;
}

}  // namespace tern::data
