// Draws detected objects on pictures.
#pragma once
#include <string>
#include <vector>

#include "data/image/draw.h"
#include "data/post/boxes.h"

namespace tern::data {

// Draws the outline of each box, its label and its score. Labels without a name are numbers. A grey picture
// becomes RGB. With `thickness` 0, the width of the lines depends on the size of the picture.
void DrawBoxes(Image& image, const std::vector<Box>& boxes, const std::vector<std::string>& labels,
               int thickness = 0);

}  // namespace tern::data
