// Decodes the first frame of a GIF file.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "data/image/formats.h"
#include "data/image/gif_lzw.h"

namespace tern::data {
namespace {

// An upper bound. A code of w <= 12 bits stands for a string of at most 2^w pixels. So a byte encodes at most
// 8 * 4096 / 12 pixels.
constexpr uint64_t kGifPixelsPerByte = 4096;

using Palette = std::array<std::array<uint8_t, 3>, 256>;

struct Frame {
  uint32_t left = 0, top = 0, width = 0, height = 0;
  bool interlaced = false;
};

class GifReader {
 public:
  GifReader(std::string_view bytes, const DecodeOptions& options)
      : in_(bytes), size_(bytes.size()), options_(options) {}

  Result<Image> Read() {
    in_.Take(6);
    width_ = in_.U16();
    height_ = in_.U16();
    const uint32_t flags = in_.U8();
    in_.Take(2);  // the background and the aspect ratio
    if (flags & 0x80) ReadPalette(flags);
    TERN_TRY(FindFrame());
    return ReadFrame();
  }

 private:
  Status Ends(const char* what) const {
    return InvalidArgument("broken GIF: the file of ", size_, " bytes ends in ", what);
  }

  // Colours that the file lacks are black. Without a palette, an index is a grey value.
  void ReadPalette(uint32_t flags) {
    Palette palette{};
    const std::string_view colours = in_.Take(size_t{3} << ((flags & 7) + 1));
    for (size_t i = 0; i < colours.size(); ++i) palette[i / 3][i % 3] = static_cast<uint8_t>(colours[i]);
    palette_ = palette;
  }

  std::string ReadBlocks() {
    std::string data;
    for (uint32_t n = in_.U8(); n > 0 && !in_.failed(); n = in_.U8()) data += in_.Take(n);
    return data;
  }

  // Skips extensions until the first frame. A graphic control extension has the transparent index.
  Status FindFrame() {
    for (;;) {
      const uint32_t kind = in_.U8();
      if (in_.failed()) return Ends("front of the first frame");
      if (kind == ',') return {};
      if (kind == ';') return InvalidArgument("broken GIF: it has no frame");
      if (kind != '!') continue;  // stray bytes between blocks
      const uint32_t label = in_.U8();
      const std::string block = ReadBlocks();
      constexpr uint32_t kGraphicControl = 0xf9;
      if (label == kGraphicControl && block.size() >= 4 && (block[0] & 1))
        outside_ = static_cast<uint8_t>(block[3]);
    }
  }

  Result<Image> ReadFrame() {
    Frame f{in_.U16(), in_.U16(), in_.U16(), in_.U16()};
    const uint32_t flags = in_.U8();
    f.interlaced = flags & 0x40;
    if (flags & 0x80) ReadPalette(flags);
    const uint32_t bits = in_.U8();
    if (in_.failed()) return Ends("the header of the first frame");
    if (bits < 1 || bits > 8) return InvalidArgument("broken GIF: indices of ", bits, " bits");
    width_ = std::max(width_, f.left + f.width);  // a frame may be larger than the screen
    height_ = std::max(height_, f.top + f.height);
    TERN_TRY(CheckPixels(f.width, f.height, options_, size_, kGifPixelsPerByte));
    TERN_TRY(CheckPixels(width_, height_, options_, size_, 0));
    const std::string data = ReadBlocks();
    TERN_ASSIGN(const auto indices, DecodeGifLzw(data, static_cast<int>(bits), size_t{f.width} * f.height));
    return Paint(f, indices);
  }

  // Returns the row of the picture that is stored as row `stored`. Four passes store every 8th row from 0,
  // every 8th from 4, every 4th from 2 and every 2nd from 1.
  static uint32_t RowOf(const Frame& f, uint32_t stored) {
    if (!f.interlaced) return stored;
    constexpr uint32_t starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
    for (int pass = 0;; ++pass) {
      const uint32_t rows = f.height > starts[pass] ? (f.height - starts[pass] - 1) / steps[pass] + 1 : 0;
      if (stored < rows) return starts[pass] + stored * steps[pass];
      stored -= rows;
    }
  }

  Image Paint(const Frame& f, const std::vector<uint8_t>& indices) const {
    Palette palette;
    for (size_t i = 0; i < 256; ++i) palette[i].fill(static_cast<uint8_t>(i));
    if (palette_) palette = *palette_;
    Image image(static_cast<int>(width_), static_cast<int>(height_), 3);
    if (f.width < width_ || f.height < height_)
      for (size_t i = 0; i < image.pixels.size(); i += 3)
        std::memcpy(image.pixels.data() + i, palette[outside_].data(), 3);
    const uint8_t* index = indices.data();
    for (uint32_t y = 0; y < f.height; ++y) {
      uint8_t* out = image.at(static_cast<int>(f.left), static_cast<int>(f.top + RowOf(f, y)));
      for (uint32_t x = 0; x < f.width; ++x, out += 3) std::memcpy(out, palette[*index++].data(), 3);
    }
    return image;
  }

  ByteReader in_;
  size_t size_;
  const DecodeOptions& options_;
  uint32_t width_ = 0, height_ = 0;
  std::optional<Palette> palette_;
  uint8_t outside_ = 0;  // the index of pixels outside of the frame
};

}  // namespace

Result<Decoded> DecodeGif(std::string_view bytes, const DecodeOptions& options) {
  TERN_ASSIGN(Image image, GifReader(bytes, options).Read());
  return Decoded{std::move(image), 1};
}

}  // namespace tern::data
