// Draws on RGB pictures. Parts outside of the picture are clipped.
#pragma once
#include <array>
#include <string_view>

#include "data/image/image.h"

namespace tern::data {

using Rgb = std::array<uint8_t, 3>;

void FillRectangle(Image& image, int left, int top, int width, int height, Rgb colour);
// Draws the outline inside of the rectangle, `thickness` pixels wide.
void DrawRectangle(Image& image, int left, int top, int width, int height, int thickness, Rgb colour);
// Draws digits, letters (as capitals) and common punctuation; other characters become a question mark. With
// `scale` 1, characters have 5 x 7 pixels in cells of 6 x 8.
void DrawText(Image& image, int left, int top, std::string_view text, int scale, Rgb colour);
// Returns distinct colours for the classes 0, 1, 2, …
Rgb ClassColour(int64_t label);

}  // namespace tern::data
