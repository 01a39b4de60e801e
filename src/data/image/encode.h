// Writes pictures as PNG and JPEG.
#pragma once
#include <string>

#include "data/image/image.h"

namespace tern::data {

Result<std::string> EncodePng(const Image& image);
Result<std::string> EncodeJpeg(const Image& image, int quality = 90);  // 1 to 100
// The extension is .png, .jpg or .jpeg.
Status WriteImage(const std::string& path, const Image& image);

}  // namespace tern::data
