#include <gtest/gtest.h>

#include <random>

#include "data/image/encode.h"
#include "data/image/formats.h"
#include "data/image/gif_lzw.h"
#include "data/image/image.h"

namespace tern::data {
namespace {

using std::string_literals::operator""s;

Image Noise(int width, int height, int channels) {
  std::mt19937 random(static_cast<uint32_t>(width * 31 + height));
  Image image(width, height, channels);
  for (uint8_t& p : image.pixels) p = static_cast<uint8_t>(random());
  return image;
}

std::string Little(uint32_t v, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i, v >>= 8) out += static_cast<char>(v);
  return out;
}

struct BmpParts {
  int width, height;
  uint32_t bits, compression = 0;
  std::string pixels, palette, masks;
};

std::string MakeBmp(const BmpParts& p) {
  const auto at = static_cast<uint32_t>(54 + p.masks.size() + p.palette.size());
  return "BM" + Little(at + static_cast<uint32_t>(p.pixels.size()), 4) + Little(0, 4) + Little(at, 4) +
         Little(40, 4) + Little(static_cast<uint32_t>(p.width), 4) +
         Little(static_cast<uint32_t>(p.height), 4) + Little(1, 2) + Little(p.bits, 2) +
         Little(p.compression, 4) + Little(0, 12) + Little(static_cast<uint32_t>(p.palette.size() / 4), 4) +
         Little(0, 4) + p.masks + p.palette + p.pixels;
}

const std::string kFour = "\x00\x00\x00\x00\x01\x02\x03\x00\x10\x20\x30\x00\xff\xff\xff\x00"s;

std::vector<int> Reds(const Result<Image>& image) {
  std::vector<int> out;
  for (size_t i = 0; image.ok() && i < image->pixels.size(); i += 3) out.push_back(image->pixels[i]);
  return out;
}

TEST(DecodeBmp, DepthsAndOrders) {
  using Ints = std::vector<int>;
  EXPECT_EQ(Reds(DecodeImage(MakeBmp({2, 2, 8, 0, "\0\1\0\0\2\3\0\0"s, kFour, ""}))), (Ints{48, 255, 0, 3}));
  EXPECT_EQ(Reds(DecodeImage(MakeBmp({2, -2, 8, 0, "\0\1\0\0\2\3\0\0"s, kFour, ""}))), (Ints{0, 3, 48, 255}));
  EXPECT_EQ(Reds(DecodeImage(MakeBmp({3, 1, 4, 0, "\x12\x30\0\0"s, kFour, ""}))), (Ints{3, 48, 255}));
  EXPECT_EQ(Reds(DecodeImage(MakeBmp({3, 1, 1, 0, "\xa0\0\0\0"s, kFour.substr(0, 8), ""}))), (Ints{3, 0, 3}));
  EXPECT_EQ(Reds(DecodeImage(MakeBmp({1, 1, 24, 0, "\1\2\3\0"s, "", ""}))), (Ints{3}));
  EXPECT_EQ(Reds(DecodeImage(MakeBmp({1, 1, 32, 0, "\1\2\3\4", "", ""}))), (Ints{3}));
  EXPECT_EQ(Reds(DecodeImage(MakeBmp({1, 1, 16, 0, Little(16u << 10, 4), "", ""}))), (Ints{16 * 255 / 31}));
  const std::string masks = Little(0xf800, 4) + Little(0x7e0, 4) + Little(0x1f, 4);
  EXPECT_EQ(Reds(DecodeImage(MakeBmp({1, 1, 16, 3, Little(16u << 11, 4), "", masks}))),
            (Ints{16 * 255 / 31}));
}

TEST(DecodeBmp, Runs) {
  using Ints = std::vector<int>;
  const auto rle8 = [](const std::string& runs) {
    return DecodeImage(MakeBmp({4, 2, 8, 1, runs, kFour, ""}));
  };
  EXPECT_EQ(Reds(rle8("\4\3\0\0\2\1\2\2\0\1"s)), (Ints{3, 3, 48, 48, 255, 255, 255, 255}));
  EXPECT_EQ(Reds(rle8("\0\3\1\2\3\0\0\0\0\2\1\1\0\1"s)), (Ints{0, 0, 0, 0, 3, 48, 255, 0}));
  EXPECT_EQ(Reds(rle8("\0\1"s)), Ints(8, 0));
  EXPECT_EQ(Reds(rle8("\xff\3\0\1"s)), (Ints{0, 0, 0, 0, 255, 255, 255, 255}));
  EXPECT_FALSE(rle8("\4\3"s).ok());              // no end
  EXPECT_FALSE(rle8("\0\2\xff\xff\0\1"s).ok());  // moves outside
  EXPECT_EQ(Reds(DecodeImage(MakeBmp({4, 1, 4, 2, "\3\x12\0\1"s, kFour, ""}))), (Ints{3, 48, 3, 0}));
}

TEST(DecodeBmp, RefusesDamage) {
  const std::string good = MakeBmp({2, 2, 8, 0, "\0\1\0\0\2\3\0\0"s, kFour, ""});
  for (size_t n = 0; n + 2 < good.size(); ++n) EXPECT_FALSE(DecodeImage(good.substr(0, n)).ok()) << n;
  for (const BmpParts& p : {BmpParts{0, 1, 24, 0, "", "", ""},
                            {1 << 15, 1 << 15, 24, 0, "", "", ""},
                            {1, 1, 7, 0, "", "", ""},
                            {1, 1, 8, 9, "", "", ""},
                            {1, 1, 24, 1, "", "", ""},
                            {1, 1, 32, 3, "\1\2\3\4", "", std::string(8, '\5') + "\1\0\0\0"s}})
    EXPECT_FALSE(DecodeImage(MakeBmp(p)).ok()) << p.bits << " " << p.compression;
  const auto short_rows = DecodeImage(MakeBmp({100, 100, 24, 0, "abc", "", ""}));
  ASSERT_FALSE(short_rows.ok());
  EXPECT_NE(short_rows.status().message().find("but the file has 3"), std::string::npos);
}

// Writes codes of a fixed number of bits, with a clear code before the table grows.
std::string PackCodes(const std::vector<uint32_t>& codes, int bits) {
  std::string out;
  uint64_t held = 0;
  int count = 0;
  for (const uint32_t code : codes) {
    held |= uint64_t{code} << count;
    for (count += bits; count >= 8; count -= 8, held >>= 8) out += static_cast<char>(held);
  }
  return count ? out + static_cast<char>(held) : out;
}

TEST(DecodeGif, Lzw) {
  // Indices of 2 bits: 4 clears, 5 ends, 6 is the string of the first two codes.
  EXPECT_EQ(*DecodeGifLzw(PackCodes({4, 1, 2, 5}, 3), 2, 2), (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(*DecodeGifLzw(PackCodes({4, 1, 6}, 3), 2, 3),
            (std::vector<uint8_t>{1, 1, 1}));  // a code that is not in the table yet
  EXPECT_EQ(*DecodeGifLzw(PackCodes({4, 1, 6}, 3), 2, 2),
            (std::vector<uint8_t>{1, 1}));  // the rest is cut off
  EXPECT_FALSE(DecodeGifLzw(PackCodes({4, 1, 7}, 3), 2, 3).ok());
  EXPECT_FALSE(DecodeGifLzw(PackCodes({4, 6}, 3), 2, 3).ok());
  EXPECT_FALSE(DecodeGifLzw(PackCodes({4, 1, 5}, 3), 2, 3).ok());
  EXPECT_FALSE(DecodeGifLzw("", 2, 1).ok());
}

std::string MakeGif(bool interlaced, const std::string& extension = "") {
  const std::string head = "GIF89a\3\0\4\0\x81\0\0"s, palette("\0\0\0\1\1\1\2\2\2\3\3\3", 12);
  // A frame of 1 x 4 at column 1; the data is four indices.
  const std::string frame = ",\1\0\0\0\1\0\4\0"s + (interlaced ? "\x40"s : "\0"s);
  const std::string codes = PackCodes({4, 0, 1, 4, 2, 3, 5}, 3);
  return head + palette + extension + frame + "\2"s + static_cast<char>(codes.size()) + codes + "\0;"s;
}

TEST(DecodeGif, FramesInsideOfTheScreen) {
  EXPECT_EQ(Reds(DecodeImage(MakeGif(false))), (std::vector<int>{0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0}));
  EXPECT_EQ(Reds(DecodeImage(MakeGif(true))), (std::vector<int>{0, 0, 0, 0, 2, 0, 0, 1, 0, 0, 3, 0}));
  const std::string transparent = "!\xf9\4\1\0\0\3\0"s;
  EXPECT_EQ(Reds(DecodeImage(MakeGif(false, transparent))),
            (std::vector<int>{3, 0, 3, 3, 1, 3, 3, 2, 3, 3, 3, 3}));
}

TEST(DecodeImage, SurvivesCutsAndFlips) {
  const Image noise = Noise(9, 9, 3);
  for (const std::string& good : {*EncodePng(noise), *EncodeJpeg(noise), MakeGif(true),
                                  MakeBmp({4, 2, 8, 1, "\4\3\0\0\2\1\2\2\0\1"s, kFour, ""})}) {
    ASSERT_TRUE(DecodeImage(good).ok());
    for (size_t n = 0; n < good.size(); n += 3) (void)DecodeImage(good.substr(0, n)).ok();
    for (size_t i = 0; i < good.size(); ++i)
      for (const int flip : {0x55, 0x80, 0x01}) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ flip);
        const auto image = DecodeImage(bad);
        EXPECT_NE(image.status().code(), Code::kInternal) << image.status().ToString();
      }
  }
}

TEST(DecodeImage, LimitsPixels) {
  const std::string png = *EncodePng(Noise(20, 10, 1));
  EXPECT_TRUE(DecodeImage(png, {.max_pixels = 200}).ok());
  const auto image = DecodeImage(png, {.max_pixels = 199});
  ASSERT_FALSE(image.ok());
  EXPECT_NE(image.status().message().find("20 x 10"), std::string::npos);
}

TEST(DecodeImage, ScalesJpegs) {
  const std::string jpeg = *EncodeJpeg(Noise(64, 48, 3));
  const auto image = DecodeImage(jpeg, {.jpeg_least_side = 12});
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->width, 16);
  EXPECT_EQ(image->height, 12);
  EXPECT_EQ(DecodeImage(jpeg, {.jpeg_least_side = 40})->width, 64);
}

TEST(Exif, FindsTheOrientation) {
  const std::string little = "II*\0\x08\0\0\0\2\0\x0f\1\2\0\1\0\0\0\0\0\0\0\x12\1\3\0\1\0\0\0\6\0\0\0"s;
  const std::string big = "MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\3\0\0"s;
  EXPECT_EQ(ExifOrientation(little), 6);
  EXPECT_EQ(ExifOrientation("Exif\0\0"s + big), 3);
  for (const std::string& exif : {little, big})
    for (size_t n = 0; n < exif.size(); ++n) EXPECT_EQ(ExifOrientation(exif.substr(0, n)), 1) << n;
}

TEST(Encode, RoundTripsAndRefuses) {
  for (const int channels : {1, 3}) {
    const Image image = Noise(7, 5, channels);
    EXPECT_EQ(DecodeImage(*EncodePng(image))->pixels, image.pixels);
    EXPECT_EQ(DecodeImage(*EncodeJpeg(image, 100))->channels, channels);
  }
  EXPECT_FALSE(EncodePng(Image()).ok());
  EXPECT_FALSE(EncodeJpeg(Noise(2, 2, 3), 0).ok());
  EXPECT_FALSE(WriteImage("picture.tiff", Noise(2, 2, 3)).ok());
}

}  // namespace
}  // namespace tern::data
