#include "data/image/picture_input.h"

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <cstdio>

#include <jpeglib.h>

#include "data/compare.h"
#include "data/random.h"

namespace tern::data {
namespace {

Image Gradient(int width, int height, int channels) {
  Image image{width, height, channels, {}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        image.pixels.push_back(static_cast<uint8_t>(x * 10 + y * 3 + c * 50));
  return image;
}

std::string PngOf(const Image& image) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::string out(1 << 16, '\0');
  png_alloc_size_t size = out.size();
  EXPECT_TRUE(png_image_write_to_memory(&png, out.data(), &size, 0, image.pixels.data(), 0, nullptr));
  out.resize(size);
  return out;
}

std::string JpegOf(const Image& image) {
  jpeg_compress_struct c{};
  jpeg_error_mgr errors{};
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &data, &size);
  c.image_width = static_cast<JDIMENSION>(image.width);
  c.image_height = static_cast<JDIMENSION>(image.height);
  c.input_components = image.channels;
  c.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&c);
  jpeg_start_compress(&c, TRUE);
  for (int y = 0; y < image.height; ++y) {
    JSAMPROW row = const_cast<uint8_t*>(image.at(0, y));
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  std::string out(reinterpret_cast<char*>(data), size);
  jpeg_destroy_compress(&c);
  std::free(data);
  return out;
}

TEST(Image, DecodesPngExactly) {
  for (const int channels : {1, 3}) {
    const Image image = Gradient(7, 5, channels);
    auto back = DecodeImage(PngOf(image));
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(back->width, 7);
    EXPECT_EQ(back->height, 5);
    EXPECT_EQ(back->pixels, image.pixels);
  }
}

TEST(Image, DecodesJpegClosely) {
  const Image image = Gradient(16, 16, 1);
  auto back = DecodeImage(JpegOf(image));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  ASSERT_EQ(back->pixels.size(), image.pixels.size());
  for (size_t i = 0; i < image.pixels.size(); ++i) EXPECT_NEAR(back->pixels[i], image.pixels[i], 12);
}

TEST(Image, RefusesTruncationAndSurvivesFlips) {
  for (const std::string& good : {PngOf(Gradient(9, 9, 3)), JpegOf(Gradient(16, 16, 3))}) {
    for (size_t n = 0; n + 20 < good.size(); n += 3) EXPECT_FALSE(DecodeImage(good.substr(0, n)).ok()) << n;
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 0x55);
      (void)DecodeImage(bad).ok();
    }
  }
  EXPECT_FALSE(DecodeImage("GIF89a").ok());
}

TEST(Image, RefusesHugeClaims) {
  std::string png = PngOf(Gradient(2, 2, 1));
  for (const size_t at : {16, 20})
    png[at] = 0x10;  // a width and height of 2^28; libpng's CRC check or CheckPixels fails
  EXPECT_FALSE(DecodeImage(png).ok());
  std::string jpeg = JpegOf(Gradient(8, 8, 1));
  const size_t frame = jpeg.find("\xff\xc0");
  for (size_t i = 0; i < 4; ++i) jpeg[frame + 5 + i] = '\xff';
  auto image = DecodeImage(jpeg);
  ASSERT_FALSE(image.ok());
  EXPECT_NE(image.status().message().find("pixels"), std::string::npos) << image.status().message();
}

// The file has 35 bytes and claims 108 million pixels.
TEST(Image, RefusesMorePixelsThanTheBytesCanHold) {
  const unsigned char jpeg[] = {0xff, 0xd8, 0xff, 0xc0, 0x00, 0x11, 0x08, 0x2c, 0x50, 0x25, 0x47, 0x03,
                                0x01, 0x22, 0x00, 0x02, 0x11, 0x01, 0x03, 0x11, 0x14, 0xff, 0xda, 0x00,
                                0x0c, 0x03, 0x01, 0x00, 0x02, 0x11, 0x03, 0xfc, 0x3f, 0x00, 0x9e};
  const auto image = DecodeImage({reinterpret_cast<const char*>(jpeg), sizeof jpeg});
  ASSERT_FALSE(image.ok());
  EXPECT_NE(image.status().message().find("file of 35 bytes"), std::string::npos) << image.status().message();
}

TEST(Image, ResizesLikeItSays) {
  Image two{2, 1, 1, {0, 100}};
  EXPECT_EQ(Resize(two, 4, 1).pixels, (std::vector<uint8_t>{0, 25, 75, 100}));
  Image four{4, 1, 1, {0, 0, 100, 100}};
  EXPECT_EQ(
      Resize(four, 2, 1).pixels,
      (std::vector<uint8_t>{14, 86}));  // a triangle filter; 1/7 of each result comes from the other half
  EXPECT_EQ(Resize(Gradient(5, 5, 3), 5, 5).pixels, Gradient(5, 5, 3).pixels);
}

TEST(Image, BecomesATensor) {
  const Image image = Gradient(4, 2, 3);
  auto chw = ImageToTensor(image, DType::kF32, {1, 3, 2, 4}, {});
  ASSERT_TRUE(chw.ok()) << chw.status().ToString();
  EXPECT_FLOAT_EQ(chw->data<float>()[8], 50 / 255.f);
  auto hwc = ImageToTensor(image, DType::kU8, {-1, -1, -1, 3}, {});
  ASSERT_TRUE(hwc.ok());
  EXPECT_EQ(hwc->dims(), (Dims{1, 2, 4, 3}));
  EXPECT_EQ(hwc->data<uint8_t>()[1], 50);
  ImageOptions options;
  options.mean = {0, 50, 100};
  options.std = {2};
  options.scale = 1;
  options.channels = "bgr";
  auto bgr = ImageToTensor(image, DType::kF32, {3, 2, 4}, options);
  ASSERT_TRUE(bgr.ok());
  EXPECT_FLOAT_EQ(bgr->data<float>()[0], 50);    // blue 100 - 0, halved
  EXPECT_FLOAT_EQ(bgr->data<float>()[16], -50);  // red 0 - 100, halved
}

TEST(Image, CropsAndGrows) {
  ImageOptions options;
  options.resize = "8";
  options.crop = "6x4";
  auto t = ImageToTensor(Gradient(4, 2, 3), DType::kF32, {1, 1, -1, -1}, options);
  ASSERT_TRUE(t.ok()) << t.status().ToString();
  EXPECT_EQ(t->dims(), (Dims{1, 1, 4, 6}));
  EXPECT_FALSE(ImageToTensor(Gradient(4, 2, 3), DType::kF32, {1, 3, 9, 9}, options).ok());
  options.crop = "99";
  EXPECT_FALSE(ImageToTensor(Gradient(4, 2, 3), DType::kF32, {1, 3, -1, -1}, options).ok());
  options.resize = "0x4";
  EXPECT_FALSE(ImageToTensor(Gradient(4, 2, 3), DType::kF32, {1, 3, -1, -1}, options).ok());
}

TEST(Image, RefusesInputsThatAreNoPictures) {
  EXPECT_FALSE(ImageToTensor(Gradient(4, 2, 3), DType::kF32, {10}, {}).ok());
  EXPECT_FALSE(ImageToTensor(Gradient(4, 2, 3), DType::kF32, {2, 3, 4, 4}, {}).ok());
  EXPECT_FALSE(ImageToTensor(Gradient(4, 2, 3), DType::kF32, {1, 7, 4, 4}, {}).ok());
  EXPECT_FALSE(ImageToTensor(Gradient(4, 2, 3), DType::kString, {1, 3, 4, 4}, {}).ok());
}

TEST(Random, IsTheSameEverywhere) {
  auto t = RandomTensor(DType::kF32, {3}, 1, "x");
  ASSERT_TRUE(t.ok());
  const std::vector<double> v = ToDoubles(*t);
  EXPECT_EQ(v, ToDoubles(*RandomTensor(DType::kF32, {3}, 1, "x")));
  EXPECT_NE(v, ToDoubles(*RandomTensor(DType::kF32, {3}, 2, "x")));
  EXPECT_NE(v, ToDoubles(*RandomTensor(DType::kF32, {3}, 1, "y")));
  EXPECT_EQ(v[0], 0.2642899751663208);
}

TEST(Random, StaysInRange) {
  for (const double v : ToDoubles(*RandomTensor(DType::kF32, {10000}, 5, "x"))) EXPECT_TRUE(v >= -1 && v < 1);
  for (const int64_t v : ToLongs(*RandomTensor(DType::kI64, {1000}, 5, "x"))) EXPECT_TRUE(v == 0 || v == 1);
  EXPECT_FALSE(RandomTensor(DType::kF32, {1 << 20, 1 << 20}, 1, "x").ok());
}

TEST(Compare, FindsTheWorstPlace) {
  const Tensor wanted = Tensor::Of(DType::kF32, {2, 2}, {1, 2, 3, NAN}),
               got = Tensor::Of(DType::kF32, {2, 2}, {1, 2.5, 4, NAN});
  const Comparison c = Compare(got, wanted, {});
  EXPECT_EQ(c.wrong, 2);
  EXPECT_EQ(c.max_abs, 1);
  EXPECT_NE(c.difference.find("[1,0]"), std::string::npos) << c.difference;
  EXPECT_TRUE(Compare(wanted, wanted, {}).difference.empty());
  EXPECT_FALSE(
      Compare(Tensor::Of(DType::kF32, {1}, {1}), Tensor::Of(DType::kF32, {1}, {NAN}), {}).difference.empty());
  EXPECT_FALSE(Compare(Tensor::Of(DType::kF32, {1}, {INFINITY}), Tensor::Of(DType::kF32, {1}, {1}), {})
                   .difference.empty());
  EXPECT_FALSE(Compare(Tensor::Ints({1}), Tensor::Ints({2}), {}).difference.empty());
  EXPECT_FALSE(Compare(Tensor::Ints({1}), Tensor::Scalar(DType::kI64, 1), {}).difference.empty());
}

}  // namespace
}  // namespace tern::data
