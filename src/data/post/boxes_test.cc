#include "data/post/boxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "data/post/detect.h"
#include "data/post/overlay.h"

namespace tern::data {
namespace {

std::vector<Box> RandomBoxes(int count, int labels, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> at(0, 80), size(1, 40), score(0, 1);
  std::vector<Box> out;
  for (int i = 0; i < count; ++i) {
    const float x = at(random), y = at(random);
    const auto label = static_cast<int64_t>(random() % static_cast<uint32_t>(labels));
    // Scores of one digit, so that some are equal.
    out.push_back({x, y, x + size(random), y + size(random), std::round(score(random) * 10) / 10, label});
  }
  return out;
}

// Removes the best box and all that overlap it, until none is left.
std::vector<size_t> SlowNms(const std::vector<Box>& boxes, double threshold, bool per_class) {
  std::vector<bool> alive(boxes.size(), true);
  std::vector<size_t> out;
  for (;;) {
    size_t best = boxes.size();
    for (size_t i = 0; i < boxes.size(); ++i)
      if (alive[i] && (best == boxes.size() || boxes[i].score > boxes[best].score)) best = i;
    if (best == boxes.size()) return out;
    out.push_back(best);
    for (size_t i = 0; i < boxes.size(); ++i) {
      const Box &a = boxes[best], &b = boxes[i];
      const double w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0),
                   h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
      const double common = w > 0 && h > 0 ? w * h : 0;
      const double all = double{a.x1 - a.x0} * (a.y1 - a.y0) + double{b.x1 - b.x0} * (b.y1 - b.y0) - common;
      if (i == best || ((!per_class || a.label == b.label) && common / all > threshold)) alive[i] = false;
    }
  }
}

TEST(Boxes, NmsEqualsBruteForce) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::vector<Box> boxes = RandomBoxes(static_cast<int>(seed % 60), 3, seed);
    for (const bool per_class : {true, false})
      for (const float threshold : {0.f, 0.3f, 0.7f})
        EXPECT_EQ(Nms(boxes, threshold, per_class), SlowNms(boxes, threshold, per_class)) << seed;
  }
}

TEST(Boxes, NmsDropsNanAndHonoursTheLimit) {
  std::vector<Box> boxes = {
      {0, 0, 1, 1, NAN, 0}, {0, 0, NAN, 1, 1, 0}, {0, 0, 1, 1, 0.5f, 0}, {5, 5, 6, 6, 0.4f, 0}};
  EXPECT_EQ(Nms(boxes, 0.5f, true), (std::vector<size_t>{2, 3}));
  EXPECT_EQ(Nms(boxes, 0.5f, true, 1), (std::vector<size_t>{2}));
}

TEST(Boxes, SoftNmsLowersScores) {
  const std::vector<Box> boxes = {
      {0, 0, 10, 10, 0.9f, 0}, {0, 0, 10, 10, 0.8f, 0}, {50, 50, 60, 60, 0.7f, 0}};
  const std::vector<Box> soft = SoftNms(boxes, 0.5f, 0.01f, true);
  ASSERT_EQ(soft.size(), 3u);
  EXPECT_FLOAT_EQ(soft[1].score, 0.7f);
  EXPECT_FLOAT_EQ(soft[2].score, 0.8f * std::exp(-2.f));
  EXPECT_EQ(SoftNms(boxes, 0.5f, 0.2f, true).size(), 2u);
}

TEST(Boxes, FormatsGiveTheSameBox) {
  const float xyxy[] = {10, 20, 30, 60}, yxyx[] = {20, 10, 60, 30}, xywh[] = {10, 20, 20, 40},
              cxcywh[] = {20, 40, 20, 40};
  const std::pair<const char*, const float*> formats[] = {
      {"xyxy", xyxy}, {"yxyx", yxyx}, {"xywh", xywh}, {"cxcywh", cxcywh}};
  for (const auto& [name, four] : formats) {
    const Box b = MakeBox(*BoxFormatFromName(name), four);
    EXPECT_EQ(b.x0, 10) << name;
    EXPECT_EQ(b.y0, 20) << name;
    EXPECT_EQ(b.x1, 30) << name;
    EXPECT_EQ(b.y1, 60) << name;
  }
  EXPECT_FALSE(BoxFormatFromName("whxy").ok());
}

// A point of the picture goes to the tensor and back.
TEST(Boxes, MapBackThroughEveryFit) {
  const Size picture{200, 100};
  PixelOptions options[6];
  options[1] = {.fit = Fit::kStretch, .size = {64, 64}};
  options[2] = {.fit = Fit::kShorterSide, .size = {50, 0}, .crop = {40, 40}};
  options[3] = {.fit = Fit::kLetterbox, .size = {64, 64}};
  options[4] = {.fit = Fit::kPadEnd, .size = {64, 64}, .flip_horizontal = true};
  options[5] = {.fit = Fit::kInside, .size = {30, 90}, .flip_horizontal = true};
  for (const PixelOptions& o : options) {
    auto p = PlaceImage(picture, o);
    ASSERT_TRUE(p.ok()) << p.status().ToString();
    const auto x = [&](double v) { return static_cast<float>(v * p->scale_x + p->offset_x); };
    const auto y = [&](double v) { return static_cast<float>(v * p->scale_y + p->offset_y); };
    const Box in_tensor{std::min(x(90), x(110)), y(40), std::max(x(90), x(110)), y(60), 1, 3};
    auto back = MapToPicture({in_tensor}, *p, false);
    ASSERT_EQ(back.size(), 1u);
    EXPECT_NEAR(back[0].x0, 90, 1e-3);
    EXPECT_NEAR(back[0].y1, 60, 1e-3);
    Box unit = in_tensor;
    for (float* v : {&unit.x0, &unit.x1}) *v /= static_cast<float>(p->tensor.width);
    for (float* v : {&unit.y0, &unit.y1}) *v /= static_cast<float>(p->tensor.height);
    back = MapToPicture({unit}, *p, true);
    ASSERT_EQ(back.size(), 1u);
    EXPECT_NEAR(back[0].x1, 110, 1e-2);
    EXPECT_TRUE(MapToPicture({Box{-50, -50, -40, -40, 1, 0}}, *p, false).empty());
  }
}

TEST(Detect, YoloLayoutsAgree) {
  // Two boxes of three classes; the second one is below the least score with objectness.
  const std::vector<double> rows = {10, 10, 4, 4, 0.9, 0.1, 0.8, 0.2, 30, 30, 6, 6, 0.3, 0.7, 0.1, 0.2};
  const Tensor with = Tensor::Of(DType::kF32, {1, 2, 8}, rows);
  DetectOptions o;
  auto found = DetectYolo(with, true, false, o);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  ASSERT_EQ((*found)[0].size(), 1u);
  EXPECT_FLOAT_EQ((*found)[0][0].score, 0.72f);
  EXPECT_EQ((*found)[0][0].label, 1);
  EXPECT_EQ((*found)[0][0].x0, 8);
  Tensor plain(DType::kF32, {1, 7, 2});  // transposed and without objectness
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t f = 0; f < 7; ++f)
      plain.data<float>()[f * 2 + i] =
          static_cast<float>(rows[static_cast<size_t>(i * 8 + (f < 4 ? f : f + 1))]);
  found = DetectYolo(plain, false, true, o);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ((*found)[0].size(), 2u);
  EXPECT_FLOAT_EQ((*found)[0][0].score, 0.8f);
  EXPECT_FLOAT_EQ((*found)[0][1].score, 0.7f);
  EXPECT_FALSE(DetectYolo(Tensor(DType::kF32, {1, 9, 4}), false, false, o).ok());
}

TEST(Detect, SsdSkipsTheBackground) {
  const Tensor boxes = Tensor::Of(DType::kF32, {2, 4}, {0, 0, .5, .5, .01, 0, .5, .5}),
               scores = Tensor::Of(DType::kF32, {2, 2}, {.2, .8, .1, .9});
  DetectOptions o{.format = BoxFormat::kXyxy, .background = 0};
  auto found = DetectSsd(boxes, scores, o);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  ASSERT_EQ((*found)[0].size(), 1u);  // they overlap
  EXPECT_FLOAT_EQ((*found)[0][0].score, .9f);
  o.iou_threshold = 1;
  EXPECT_EQ((*DetectSsd(boxes, scores, o))[0].size(), 2u);
  EXPECT_FALSE(DetectSsd(boxes, Tensor(DType::kF32, {3, 2}), o).ok());
}

TEST(Detect, DetrTakesSoftmaxWithoutTheLastClass) {
  const Tensor logits = Tensor::Of(DType::kF32, {1, 2, 3}, {5, 0, 0, 0, 0, 5}),
               boxes = Tensor::Of(DType::kF32, {1, 2, 4}, {.5, .5, .2, .2, .1, .1, .1, .1});
  auto found = DetectDetr(logits, boxes, {});
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  ASSERT_EQ((*found)[0].size(), 1u);
  EXPECT_NEAR((*found)[0][0].score, std::exp(5) / (std::exp(5) + 2), 1e-6);
  EXPECT_FLOAT_EQ((*found)[0][0].x0, .4f);
}

TEST(Detect, ReadyBoxesKeepTheirCount) {
  const Tensor boxes = Tensor::Of(DType::kF32, {1, 3, 4}, {0, 0, 1, 1, 0, 0, 2, 2, 0, 0, 3, 3}),
               scores = Tensor::Of(DType::kF32, {1, 3}, {.5, .9, .8}),
               labels = Tensor::Of(DType::kF32, {1, 3}, {1, 2, 3}), count = Tensor::Of(DType::kF32, {1}, {2});
  DetectOptions o{.format = BoxFormat::kYxyx};
  auto found = DetectReady(boxes, scores, labels, &count, o);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  ASSERT_EQ((*found)[0].size(), 2u);
  EXPECT_EQ((*found)[0][0].label, 2);
  EXPECT_EQ((*DetectReady(boxes, scores, labels, nullptr, o))[0].size(), 3u);
}

TEST(Overlay, DrawsBoxesInsideAndOutside) {
  Image image(40, 30, 1);
  DrawBoxes(image, {{5, 10, 25, 25, 0.5f, 1}, {-100, -100, 900, 900, 1, 7}, {NAN, 0, 1, 1, 1, 0}},
            {"", "cat"});
  EXPECT_EQ(image.channels, 3);
  const Rgb colour = ClassColour(1);
  EXPECT_TRUE(std::equal(colour.begin(), colour.end(), image.at(5, 20)));
}

}  // namespace
}  // namespace tern::data
