#include "data/post/overlay.h"

#include <algorithm>
#include <cmath>

#include "data/image/transform.h"

namespace tern::data {
namespace {

constexpr int kCellWidth = 6, kCellHeight = 8;

std::string Caption(const Box& box, const std::vector<std::string>& labels) {
  const bool named = box.label >= 0 && box.label < static_cast<int64_t>(labels.size()) &&
                     !labels[static_cast<size_t>(box.label)].empty();
  const auto percent = static_cast<int>(std::lround(std::clamp(box.score, 0.f, 1.f) * 100));
  return StrCat(named ? labels[static_cast<size_t>(box.label)] : StrCat(box.label), " ", percent, "%");
}

// Dark text on light colours, light text on dark ones.
Rgb TextColour(Rgb c) {
  const int luma = (c[0] * 299 + c[1] * 587 + c[2] * 114) / 1000;
  return luma > 140 ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
}

}  // namespace

void DrawBoxes(Image& image, const std::vector<Box>& boxes, const std::vector<std::string>& labels,
               int thickness) {
  image = WithChannels(image, 3);
  const int shorter = std::min(image.width, image.height);
  const int line = thickness > 0 ? thickness : std::max(1, shorter / 200), scale = std::max(1, shorter / 300);
  for (const Box& box : boxes) {
    if (!std::isfinite(box.x0 + box.y0 + box.x1 + box.y1)) continue;
    const auto pixel = [](float v) { return static_cast<int>(std::lround(std::clamp(v, -1e6f, 1e6f))); };
    const int left = pixel(box.x0), top = pixel(box.y0), width = pixel(box.x1) - left,
              height = pixel(box.y1) - top;
    const Rgb colour = ClassColour(box.label);
    DrawRectangle(image, left, top, width, height, line, colour);
    const std::string caption = Caption(box, labels);
    const int text_width =
                  static_cast<int>(std::min<size_t>(caption.size(), 200)) * kCellWidth * scale + scale,
              text_height = kCellHeight * scale + scale;
    const int text_top = top >= text_height ? top - text_height : top;
    FillRectangle(image, left, text_top, text_width, text_height, colour);
    DrawText(image, left + scale, text_top + scale, caption, scale, TextColour(colour));
  }
}

}  // namespace tern::data
