#include "server/rollout/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace tern::server {
namespace {

constexpr OutputTolerance kTolerance{CompareMode::kValues, 1e-4, 1e-3};
constexpr OutputTolerance kTop1{CompareMode::kTop1, 0, 0};

Buffer BytesOf(const void* data, size_t size) {
  Buffer buffer = Buffer::Allocate(size);
  if (size) std::memcpy(buffer.data(), data, size);
  return buffer;
}

WireTensor Floats(const std::vector<float>& values, Dims dims = {}) {
  if (dims.empty()) dims = {static_cast<int64_t>(values.size())};
  return {"y", DType::kF32, dims, BytesOf(values.data(), values.size() * sizeof(float))};
}

WireTensor Texts(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts) {
    const auto length = static_cast<uint32_t>(text.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes += text;
  }
  return {"y", DType::kString, {static_cast<int64_t>(texts.size())}, BytesOf(bytes.data(), bytes.size())};
}

std::string Compare(WireTensor a, WireTensor b, const OutputTolerance& tolerance = kTolerance) {
  Response expected, actual;
  expected.outputs.push_back(std::move(a));
  actual.outputs.push_back(std::move(b));
  return CompareOutputs(expected, actual, tolerance);
}

TEST(CompareOutputs, AllowsTheTolerance) {
  EXPECT_EQ(Compare(Floats({1, 1000}), Floats({1.0005f, 1000.5f})), "");
  EXPECT_EQ(Compare(Floats({0}), Floats({0.00009f})), "");
  EXPECT_EQ(Compare(Floats({1, 2, 3}), Floats({1, 2.5, 3})), "output 'y', element 1: 2 and 2.5");
  EXPECT_NE(Compare(Floats({0}), Floats({0.0002f})), "");
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Compare(Floats({nan, inf}), Floats({nan, inf})), "");
  EXPECT_NE(Compare(Floats({nan}), Floats({1})), "");
  EXPECT_NE(Compare(Floats({inf}), Floats({-inf})), "");
  EXPECT_NE(Compare(Floats({1}), Floats({inf})), "");
}

TEST(CompareOutputs, ComparesIntegersExactly) {
  const int64_t a = (int64_t{1} << 60) + 1, b = int64_t{1} << 60;
  const WireTensor x{"y", DType::kI64, {1}, BytesOf(&a, sizeof a)},
      z{"y", DType::kI64, {1}, BytesOf(&b, sizeof b)};
  EXPECT_EQ(Compare(x, x), "");
  EXPECT_NE(Compare(x, z), "");
}

TEST(CompareOutputs, ComparesNamesTypesAndShapes) {
  EXPECT_EQ(Compare(Floats({1, 2}), Floats({1, 2}, {1, 2})), "output 'y': FP32[2] and FP32[1,2]");
  EXPECT_EQ(Compare(Floats({1}), Texts({"1"})), "output 'y': FP32[1] and BYTES[1]");
  WireTensor other = Floats({1});
  other.name = "z";
  EXPECT_EQ(Compare(Floats({1}), other), "there is no output 'y'");
  WireTensor damaged = Floats({1, 2});
  damaged.bytes = damaged.bytes.Slice(0, 4);
  EXPECT_EQ(Compare(Floats({1, 2}), damaged), "output 'y' has 8 and 4 bytes");
  Response none, one;
  one.outputs.push_back(Floats({1}));
  EXPECT_EQ(CompareOutputs(one, none, kTolerance), "1 outputs and 0");
}

TEST(CompareOutputs, ComparesTheLargestElements) {
  EXPECT_EQ(Compare(Floats({1, 3, 2, 9, 0, 1}, {2, 3}), Floats({0, 0.5, 0.4f, 2, 1, 1}, {2, 3}), kTop1), "");
  EXPECT_EQ(Compare(Floats({1, 3, 2, 9, 0, 1}, {2, 3}), Floats({1, 3, 2, 1, 0, 9}, {2, 3}), kTop1),
            "output 'y', row 1: the largest element is at index 0 and 2");
  EXPECT_EQ(Compare(Floats({}, {2, 0}), Floats({}, {2, 0}), kTop1), "");
}

TEST(CompareOutputs, ComparesNumbersInTexts) {
  EXPECT_EQ(Compare(Texts({"0.9942:7", "cat"}), Texts({"0.99425:7", "cat"})), "");
  EXPECT_EQ(Compare(Texts({"0.9:7"}), Texts({"0.9:8"})), "output 'y', element 0: \"0.9:7\" and \"0.9:8\"");
  EXPECT_NE(Compare(Texts({"cat"}), Texts({"cats"})), "");
  EXPECT_EQ(Compare(Texts({"a", "b"}), Texts({"a", "b"})), "");
  WireTensor damaged = Texts({"abc"});
  damaged.bytes = damaged.bytes.Slice(0, 5);
  EXPECT_EQ(Compare(Texts({"abc"}), damaged),
            "output 'y': one of the answers has fewer texts than the other");
}

TEST(TextsAgree, KnowsNumbersFromNames) {
  EXPECT_TRUE(TextsAgree("[1.0,-2e3]", "[1,-2000]", kTolerance));
  EXPECT_FALSE(TextsAgree("resnet50", "resnet50.0", kTolerance));
  EXPECT_FALSE(TextsAgree("v2", "v3", {CompareMode::kValues, 10, 0})) << "part of a name";
  EXPECT_FALSE(TextsAgree("1", "", kTolerance));
  EXPECT_TRUE(TextsAgree("", "", kTolerance));
  EXPECT_FALSE(TextsAgree("1-2", "1-3", kTolerance));
  EXPECT_TRUE(TextsAgree("9999999999999999999999999", "1e25", kTolerance));
}

TEST(CompareOutputs, IgnoresTheVersionInReadableAnswers) {
  Response a, b;
  a.text = R"({"model_name":"m","model_version":"1","outputs":{"digit":[{"probability":0.994}]}})";
  b.text = R"({"model_name":"m","model_version":"12","outputs":{"digit":[{"probability":0.9941}]}})";
  EXPECT_EQ(CompareOutputs(a, b, kTolerance), "");
  b.text = R"({"model_name":"m","model_version":"12","outputs":{"digit":[{"probability":0.5}]}})";
  EXPECT_EQ(CompareOutputs(a, b, kTolerance), "the texts differ");
  EXPECT_EQ(CompareOutputs(a, {}, kTolerance), "one answer is a text");
}

}  // namespace
}  // namespace tern::server
