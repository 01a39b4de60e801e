// Segmentation: the class of each pixel.
#pragma once
#include <vector>

#include "core/tensor.h"
#include "data/image/draw.h"
#include "data/image/to_tensor.h"

namespace tern::data {

struct ClassMap {
  int width = 0, height = 0;
  std::vector<int32_t> labels;  // row by row
};

// Takes the class with the largest score at each pixel. `scores` is [1, C, H, W] or, with kNhwc, [1, H, W,
// C]; the batch axis may be missing. Equal scores give the smaller class. NaN is smaller than all numbers. An
// integer tensor [1, 1, H, W], [1, H, W] or [H, W] contains the classes themselves; negative ones become -1,
// which means no class.
Result<ClassMap> SegmentationMap(const Tensor& scores, Layout layout = Layout::kNchw);
// Moves the map to the pixels of the source picture. Each pixel takes the class at its centre.
Result<ClassMap> MapToPicture(const ClassMap& map, const Placement& placement);
// Draws the colour of each class with weight `opacity` (0 to 1) over the picture, which becomes RGB. Class
// `background` and pixels without a class are not drawn; -1 draws all classes. Fails if the sizes differ or
// `opacity` is out of range.
Status DrawClasses(Image& image, const ClassMap& map, float opacity, int32_t background);
// A picture with the colours alone. Pixels without a class are black.
Image ColourClasses(const ClassMap& map);

}  // namespace tern::data
