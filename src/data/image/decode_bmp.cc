#include <algorithm>
#include <cstring>

#include "data/image/bmp_header.h"

namespace tern::data {
namespace {

// Writes the colours of palette indices.
void PaintIndices(const BmpHeader& h, const uint8_t* indices, uint8_t* out) {
  for (size_t x = 0; x < h.width; ++x, out += 3) std::memcpy(out, h.palette[indices[x]].data(), 3);
}

// Extracts indices of 1, 4 or 8 bits. The leftmost pixel is in the highest bits.
void UnpackIndices(const BmpHeader& h, const uint8_t* row, uint8_t* indices) {
  const uint32_t per_byte = 8 / h.bits, mask = (1u << h.bits) - 1;
  for (size_t x = 0; x < h.width; ++x)
    indices[x] = static_cast<uint8_t>(row[x / per_byte] >> (8 - h.bits * (x % per_byte + 1)) & mask);
}

// A colour of fewer or more than 8 bits is scaled to 0 to 255 and rounded down.
void PaintMasked(const BmpHeader& h, const uint8_t* row, uint8_t* out) {
  const size_t bytes = h.bits / 8;
  for (size_t x = 0; x < h.width; ++x, row += bytes) {
    uint32_t pixel = 0;
    std::memcpy(&pixel, row, bytes);  // little-endian, as the machine
    for (const uint32_t mask : h.masks) {
      const int shift = __builtin_ctz(mask);
      const uint64_t most = mask >> shift;
      *out++ = static_cast<uint8_t>(uint64_t{(pixel & mask) >> shift} * 255 / most);
    }
  }
}

void PaintBgr(const BmpHeader& h, const uint8_t* row, uint8_t* out) {
  for (size_t x = 0; x < h.width; ++x, row += 3, out += 3) {
    out[0] = row[2];
    out[1] = row[1];
    out[2] = row[0];
  }
}

uint8_t* RowAt(const BmpHeader& h, size_t stored, Image& image) {
  return image.at(0, static_cast<int>(h.top_down ? stored : h.height - 1 - stored));
}

// Rows are padded to multiples of 4 bytes.
Result<Image> DecodeRows(const BmpHeader& h, std::string_view bytes) {
  const size_t stride = (h.width * h.bits + 31) / 32 * 4, last = (h.width * h.bits + 7) / 8;
  const size_t stored = bytes.size() - h.pixels_at, needed = stride * (h.height - 1) + last;
  if (stored < needed)
    return InvalidArgument("broken BMP: ", h.width, " x ", h.height, " pixels of ", h.bits, " bits need ",
                           needed, " bytes, but the file has ", stored);
  Image image(static_cast<int>(h.width), static_cast<int>(h.height), 3);
  std::vector<uint8_t> indices(h.width);
  for (size_t y = 0; y < h.height; ++y) {
    const auto* row = reinterpret_cast<const uint8_t*>(bytes.data()) + h.pixels_at + y * stride;
    uint8_t* out = RowAt(h, y, image);
    if (h.bits <= 8) {
      UnpackIndices(h, row, indices.data());
      PaintIndices(h, indices.data(), out);
    } else if (h.bits == 24) {
      PaintBgr(h, row, out);
    } else {
      PaintMasked(h, row, out);
    }
  }
  return image;
}

// Decodes the runs of RLE4 and RLE8 to one index per pixel. Pixels that the runs skip are 0.
class RunDecoder {
 public:
  RunDecoder(const BmpHeader& h, std::string_view runs)
      : header_(h), in_(runs), four_(h.compression == BmpCompression::kRle4), indices_(h.width * h.height) {}

  Status Decode() {
    while (!done_) {
      const uint32_t count = in_.U8(), value = in_.U8();
      if (in_.failed())
        return InvalidArgument("broken BMP: the runs end in row ", y_, " of ", header_.height);
      if (count)
        PutRun(count, value);
      else
        TERN_TRY(Escape(value));
    }
    return {};
  }
  const uint8_t* Row(size_t y) const { return indices_.data() + y * header_.width; }

 private:
  // Pixels beyond the right edge are dropped.
  void Put(uint32_t index) {
    if (x_ < header_.width && y_ < header_.height)
      indices_[y_ * header_.width + x_++] = static_cast<uint8_t>(index);
  }
  void PutRun(uint32_t count, uint32_t value) {
    for (uint32_t i = 0; i < count; ++i) Put(!four_ ? value : i % 2 ? value & 15 : value >> 4);
  }
  void EndRow() {
    x_ = 0;
    done_ = ++y_ >= header_.height;
  }
  Status Escape(uint32_t code) {
    if (code == 0) EndRow();
    if (code == 1) done_ = true;
    if (code == 2) {
      x_ += in_.U8();
      y_ += in_.U8();
      if (x_ > header_.width || y_ > header_.height)
        return InvalidArgument("broken BMP: the runs move to pixel ", x_, ", ", y_, " of ", header_.width,
                               " x ", header_.height);
    }
    if (code > 2) PutLiterals(code);
    return {};
  }
  // Literal pixels are padded to multiples of 2 bytes.
  void PutLiterals(uint32_t count) {
    const uint32_t bytes = four_ ? (count + 1) / 2 : count;
    const std::string_view data = in_.Take(bytes + bytes % 2);
    for (uint32_t i = 0; i < count && !data.empty(); ++i) {
      const uint32_t value = static_cast<uint8_t>(data[four_ ? i / 2 : i]);
      Put(!four_ ? value : i % 2 ? value & 15 : value >> 4);
    }
  }

  const BmpHeader& header_;
  ByteReader in_;
  bool four_, done_ = false;
  size_t x_ = 0, y_ = 0;
  std::vector<uint8_t> indices_;
};

Result<Image> DecodeRuns(const BmpHeader& h, std::string_view bytes) {
  RunDecoder runs(h, bytes.substr(h.pixels_at));
  TERN_TRY(runs.Decode());
  Image image(static_cast<int>(h.width), static_cast<int>(h.height), 3);
  for (size_t y = 0; y < h.height; ++y) PaintIndices(h, runs.Row(y), RowAt(h, y, image));
  return image;
}

}  // namespace

Result<Decoded> DecodeBmp(std::string_view bytes, const DecodeOptions& options) {
  TERN_ASSIGN(const BmpHeader h, ReadBmpHeader(bytes));
  TERN_TRY(CheckPixels(h.width, h.height, options, bytes.size(), 0));
  const bool runs = h.compression == BmpCompression::kRle8 || h.compression == BmpCompression::kRle4;
  TERN_ASSIGN(Image image, runs ? DecodeRuns(h, bytes) : DecodeRows(h, bytes));
  return Decoded{std::move(image), 1};
}

}  // namespace tern::data
