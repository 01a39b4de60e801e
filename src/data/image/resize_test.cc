#include "data/image/resize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "data/image/pixel_kernels.h"
#include "data/image/to_tensor.h"
#include "data/image/transform.h"

namespace tern::data {
namespace {

Image ResizeNoise(int width, int height, int channels) {
  std::mt19937 random(7);
  Image image(width, height, channels);
  for (uint8_t& p : image.pixels) p = static_cast<uint8_t>(random());
  return image;
}

// Runs the body with the kernels of each instruction set of the machine.
template <class F> void ForEachIsa(F body) {
  for (const PixelKernels* kernels : {&kBasePixelKernels, Avx2PixelKernels()}) {
    if (!kernels) continue;
    UsePixelKernels(kernels);
    body(kernels->name);
  }
  UsePixelKernels(nullptr);
}

constexpr Filter kFilters[] = {Filter::kNearest, Filter::kBox,     Filter::kBilinear,
                               Filter::kHamming, Filter::kBicubic, Filter::kLanczos};

// The values are those of Pillow 13 for Image.fromarray([[0, 50, 200, 255]]).resize(…).
TEST(Resize, EqualsPillow) {
  const Image four(4, 1, 1, {0, 50, 200, 255});
  using Bytes = std::vector<uint8_t>;
  const std::pair<Filter, Bytes> shrunk[] = {{Filter::kNearest, Bytes{0, 200, 255}},
                                             {Filter::kBox, Bytes{0, 125, 255}},
                                             {Filter::kBilinear, Bytes{15, 125, 239}},
                                             {Filter::kHamming, Bytes{8, 125, 247}},
                                             {Filter::kBicubic, Bytes{4, 125, 250}},
                                             {Filter::kLanczos, Bytes{0, 125, 255}}},
                                 grown[] = {{Filter::kNearest, Bytes{0, 0, 50, 50, 200, 255, 255}},
                                            {Filter::kBox, Bytes{0, 0, 50, 200, 200, 255, 255}},
                                            {Filter::kBilinear, Bytes{0, 18, 46, 125, 204, 235, 255}},
                                            {Filter::kHamming, Bytes{0, 10, 50, 125, 200, 244, 255}},
                                            {Filter::kBicubic, Bytes{0, 9, 43, 125, 207, 244, 255}},
                                            {Filter::kLanczos, Bytes{0, 4, 42, 124, 209, 250, 255}}};
  ForEachIsa([&](const char* isa) {
    for (const auto& [filter, pixels] : shrunk)
      EXPECT_EQ(Resize(four, 3, 1, filter).pixels, pixels) << NameOf(filter) << " " << isa;
    for (const auto& [filter, pixels] : grown)
      EXPECT_EQ(Resize(four, 7, 1, filter).pixels, pixels) << NameOf(filter) << " " << isa;
  });
}

TEST(Resize, IsTheSameForEveryInstructionSet) {
  for (const int channels : {1, 3})
    for (const Size from : {Size{1, 1}, Size{13, 40}, Size{90, 31}}) {
      const Image image = ResizeNoise(from.width, from.height, channels);
      for (const Filter filter : kFilters)
        for (const Size to :
             {Size{1, 1}, Size{7, 11}, Size{40, 9}, Size{from.width, 5}, Size{65, from.height}}) {
          std::vector<Image> results;
          ForEachIsa([&](const char*) { results.push_back(Resize(image, to.width, to.height, filter)); });
          for (const Image& r : results) EXPECT_EQ(r.pixels, results[0].pixels) << NameOf(filter);
        }
    }
}

TEST(Resize, BoxOfPixelsEqualsACrop) {
  const Image image = ResizeNoise(20, 30, 3);
  const Image part = *Crop(image, 4, 5, 10, 12);
  auto boxed = ResizeBox(image, {4, 5, 14, 17}, 10, 12, Filter::kBilinear);
  ASSERT_TRUE(boxed.ok());
  EXPECT_EQ(boxed->pixels, part.pixels);
  EXPECT_FALSE(ResizeBox(image, {4, 5, 21, 17}, 10, 12, Filter::kBilinear).ok());
  EXPECT_FALSE(ResizeBox(image, {4, 5, 4, 17}, 10, 12, Filter::kBilinear).ok());
  EXPECT_FALSE(ResizeBox(image, {NAN, 5, 4, 17}, 10, 12, Filter::kBilinear).ok());
  EXPECT_FALSE(ResizeBox(image, {4, 5, 14, 17}, 0, 12, Filter::kBilinear).ok());
}

TEST(Resize, Sizes) {
  EXPECT_EQ(ShorterSide({500, 375}, 256)->width, 341);
  EXPECT_EQ(ShorterSide({375, 500}, 256)->height, 341);
  EXPECT_FALSE(ShorterSide({100000, 1}, 256).ok());
  EXPECT_EQ(FitInside({500, 375}, {256, 256})->height, 192);
  EXPECT_EQ(FitInside({1, 1000}, {100, 100})->width, 1);
  EXPECT_FALSE(FitInside({5, 5}, {0, 5}).ok());
  EXPECT_FALSE(FilterFromName("cubic").ok());
}

TEST(Transform, TurnsAndFlips) {
  const Image two(2, 1, 1, {1, 2});
  EXPECT_EQ(FlipHorizontal(two).pixels, (std::vector<uint8_t>{2, 1}));
  const Image turned = Rotate90(Image(2, 2, 1, {1, 2, 3, 4}), 1);
  EXPECT_EQ(turned.pixels, (std::vector<uint8_t>{2, 4, 1, 3}));
  const Image image = ResizeNoise(5, 3, 3);
  EXPECT_EQ(Rotate90(Rotate90(image, 1), -1).pixels, image.pixels);
  EXPECT_EQ(Rotate90(image, 2).pixels, FlipVertical(FlipHorizontal(image)).pixels);
  // Each orientation is undone by its inverse.
  constexpr int inverse[] = {0, 1, 2, 3, 4, 5, 8, 7, 6};
  for (int o = 1; o <= 8; ++o)
    EXPECT_EQ(ApplyOrientation(ApplyOrientation(image, o), inverse[o]).pixels, image.pixels) << o;
  EXPECT_EQ(ApplyOrientation(Image(2, 2, 1, {1, 2, 3, 4}), 5).pixels, (std::vector<uint8_t>{1, 3, 2, 4}));
}

TEST(Transform, CropsAndPads) {
  const Image image = ResizeNoise(5, 4, 1);
  EXPECT_EQ(CentreCorner({5, 4}, {2, 1}).left, 2);  // 1.5 rounds to 2, as in torchvision
  EXPECT_EQ(CentreCorner({5, 4}, {2, 1}).top, 2);
  EXPECT_EQ(CentreCorner({7, 4}, {2, 1}).left, 2);  // 2.5 rounds to 2
  EXPECT_EQ(Crop(image, 1, 2, 3, 1)->pixels, std::vector<uint8_t>(image.at(1, 2), image.at(4, 2)));
  EXPECT_FALSE(Crop(image, 3, 2, 3, 1).ok());
  EXPECT_FALSE(Crop(image, -1, 2, 3, 1).ok());
  auto padded = Pad(image, 1, 0, 2, 1, {9, 9, 9});
  ASSERT_TRUE(padded.ok());
  EXPECT_EQ(padded->width, 8);
  EXPECT_EQ(*padded->at(0, 0), 9);
  EXPECT_EQ(*padded->at(1, 0), image.pixels[0]);
  EXPECT_FALSE(Pad(image, -1, 0, 0, 0, {}).ok());
}

TEST(Transform, Colours) {
  const Image red(1, 1, 3, {255, 0, 0});
  EXPECT_EQ(WithChannels(red, 1).pixels, (std::vector<uint8_t>{76}));
  EXPECT_EQ(RgbToYCbCr(red).pixels, (std::vector<uint8_t>{76, 84, 255}));
  EXPECT_EQ(YCbCrToRgb(RgbToYCbCr(red)).pixels, (std::vector<uint8_t>{254, 0, 0}));
  EXPECT_EQ(SwapRedBlue(red).pixels, (std::vector<uint8_t>{0, 0, 255}));
}

double Normalised(uint8_t pixel, size_t c) {
  constexpr double mean[] = {0.485, 0.456, 0.406}, std[] = {0.229, 0.224, 0.225};
  return (pixel / 255.0 - mean[c]) / std[c];
}

PixelOptions ImageNet() {
  PixelOptions o;
  o.fit = Fit::kShorterSide;
  o.size = {24, 0};
  o.crop = {19, 17};
  o.mean = {0.485, 0.456, 0.406};
  o.std = {0.229, 0.224, 0.225};
  return o;
}

// The fused path equals separate steps, in both layouts and orders of channels.
TEST(ToTensor, EqualsSeparateSteps) {
  const Image image = ResizeNoise(61, 47, 3);
  const Image cropped = *CropCentre(Resize(image, 31, 24), 19, 17);
  PixelOptions o = ImageNet();
  ForEachIsa([&](const char* isa) {
    for (const Layout layout : {Layout::kNchw, Layout::kNhwc})
      for (const Colour colour : {Colour::kRgb, Colour::kBgr}) {
        o.layout = layout;
        o.colour = colour;
        auto made = ToTensor(image, o);
        ASSERT_TRUE(made.ok()) << made.status().ToString();
        const bool planar = layout == Layout::kNchw;
        EXPECT_EQ(made->tensor.dims(), planar ? (Dims{1, 3, 17, 19}) : (Dims{1, 17, 19, 3}));
        for (int y = 0; y < 17; ++y)
          for (int x = 0; x < 19; ++x)
            for (size_t c = 0; c < 3; ++c) {
              const auto pixel = static_cast<size_t>(y * 19 + x);
              const float got = made->tensor.data<float>()[planar ? c * 17 * 19 + pixel : pixel * 3 + c];
              const uint8_t from = cropped.at(x, y)[colour == Colour::kBgr ? 2 - c : c];
              ASSERT_NEAR(got, Normalised(from, c), 1e-6) << isa << " " << x << "," << y;
            }
      }
  });
}

TEST(ToTensor, LetterboxFlipAndGrey) {
  PixelOptions o{.fit = Fit::kLetterbox, .size = {8, 8}, .scale = 1, .dtype = DType::kU8};
  auto made = ToTensor(Image(4, 2, 1, {1, 2, 3, 4, 5, 6, 7, 8}), o);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ(made->tensor.dims(), (Dims{1, 3, 8, 8}));
  EXPECT_EQ(made->tensor.data<uint8_t>()[0], 114);
  EXPECT_EQ(made->tensor.data<uint8_t>()[16], 1);
  EXPECT_EQ(made->placement.offset_y, 2);
  o.flip_horizontal = true;
  o.colour = Colour::kGray;
  made = ToTensor(Image(4, 2, 1, {1, 2, 3, 4, 5, 6, 7, 8}), o);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->tensor.dims(), (Dims{1, 1, 8, 8}));
  EXPECT_EQ(made->tensor.data<uint8_t>()[23], 1);
}

TEST(ToTensor, FillsABatch) {
  const Image image = ResizeNoise(6, 4, 3);
  PixelOptions o{.fit = Fit::kStretch, .size = {5, 5}, .dtype = DType::kF16};
  Tensor batch(DType::kF16, {2, 3, 5, 5});
  ASSERT_TRUE(ToTensorEntry(image, o, 1, batch).ok());
  const Tensor one = ToTensor(image, o)->tensor;
  for (int64_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(LoadDouble(batch, i), 0);
    EXPECT_EQ(LoadDouble(batch, one.size() + i), LoadDouble(one, i));
  }
  EXPECT_FALSE(ToTensorEntry(image, o, 2, batch).ok());
  o.size = {5, 6};
  EXPECT_FALSE(ToTensorEntry(image, o, 0, batch).ok());
}

TEST(ToTensor, RefusesWrongOptions) {
  const Image image = ResizeNoise(6, 4, 3);
  EXPECT_FALSE(ToTensor(image, {.crop = {7, 1}}).ok());
  EXPECT_FALSE(ToTensor(image, {.fit = Fit::kStretch, .size = {0, 5}}).ok());
  EXPECT_FALSE(ToTensor(image, {.fit = Fit::kLetterbox, .size = {9, 9}, .crop = {2, 2}}).ok());
  EXPECT_FALSE(ToTensor(image, {.mean = {1, 2}}).ok());
  EXPECT_FALSE(ToTensor(image, {.std = {0}}).ok());
  EXPECT_FALSE(ToTensor(image, {.dtype = DType::kString}).ok());
  EXPECT_FALSE(ToTensor(Image(), {}).ok());
}

}  // namespace
}  // namespace tern::data
