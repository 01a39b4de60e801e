#include <gtest/gtest.h>

#include <cmath>

#include "data/json_tensor.h"
#include "data/json_writer.h"
#include "data/text.h"

namespace tern::data {
namespace {

TEST(JsonTensor, ReadsNestedLists) {
  auto t = ParseJsonTensor("[[1, 2.5, 3], [4, \"nan\", \"-inf\"]]", DType::kF32);
  ASSERT_TRUE(t.ok()) << t.status().ToString();
  EXPECT_EQ(t->dims(), (Dims{2, 3}));
  EXPECT_EQ(LoadDouble(*t, 1), 2.5);
  EXPECT_TRUE(std::isnan(LoadDouble(*t, 4)));
  EXPECT_EQ(LoadDouble(*t, 5), -INFINITY);
}

TEST(JsonTensor, SuggestsTypes) {
  EXPECT_EQ(ParseJsonTensor("[1, 2]", DType::kInvalid)->dtype(), DType::kI64);
  EXPECT_EQ(ParseJsonTensor("[1, 2.5]", DType::kInvalid)->dtype(), DType::kF32);
  EXPECT_EQ(ParseJsonTensor("[true]", DType::kInvalid)->dtype(), DType::kBool);
  EXPECT_EQ(ParseJsonTensor("[\"a\"]", DType::kInvalid)->dtype(), DType::kString);
  EXPECT_EQ(ParseJsonTensor("7", DType::kInvalid)->rank(), 0);
  EXPECT_EQ(ParseJsonTensor("[]", DType::kI64)->dims(), Dims{0});
}

TEST(JsonTensor, KeepsBigIntegers) {
  EXPECT_EQ(LoadLong(*ParseJsonTensor("[9007199254740993]", DType::kI64), 0), 9007199254740993);
  EXPECT_EQ(static_cast<uint64_t>(LoadLong(*ParseJsonTensor("[18446744073709551615]", DType::kU64), 0)),
            UINT64_MAX);
}

TEST(JsonTensor, TakesAShapeForFlatData) {
  EXPECT_EQ(ParseJsonTensor("{\"shape\": [2, 1], \"data\": [1, 2]}", DType::kF32)->dims(), (Dims{2, 1}));
}

TEST(JsonTensor, RefusesWhatDoesNotFit) {
  const std::pair<const char*, DType> bad[] = {
      {"[[1, 2], [3]]", DType::kF32},
      {"[[1], 2]", DType::kF32},
      {"[1, [2]]", DType::kF32},
      {"[300]", DType::kU8},
      {"[-1]", DType::kU64},
      {"[1.5]", DType::kI32},
      {"[18446744073709551615]", DType::kI64},
      {"[\"x\"]", DType::kF32},
      {"[1]", DType::kString},
      {"[null]", DType::kF32},
      {"[{}]", DType::kF32},
      {"{\"shape\":[3],\"data\":[1]}", DType::kF32},
      {"{\"shape\":[1000000000,1000000000],\"data\":[1]}", DType::kF32},
      {"{\"shape\":[-1],\"data\":[1]}", DType::kF32},
      {"[1,", DType::kF32},
      {"", DType::kF32},
      {"{}", DType::kF32},
      {"[1e999]", DType::kI32},
      {"[16]", DType::kU4}};
  for (const auto& [text, type] : bad) EXPECT_FALSE(ParseJsonTensor(text, type).ok()) << text;
  EXPECT_FALSE(ParseJsonTensor(std::string(500, '[') + std::string(500, ']'), DType::kF32).ok());
  EXPECT_FALSE(ParseJsonTensor(std::string(100000, '['), DType::kF32).ok());
}

TEST(JsonTensor, ReadsNamedTensors) {
  const char* text = "{\"a\": [1], \"b\": {\"data\": [2]}}";
  EXPECT_TRUE(HoldsNamedTensors(text));
  EXPECT_FALSE(HoldsNamedTensors("{\"data\": [2]}"));
  EXPECT_FALSE(HoldsNamedTensors("[1]"));
  auto named = ParseJsonTensors(text, [](const std::string&) { return DType::kF32; });
  ASSERT_TRUE(named.ok());
  EXPECT_EQ((*named)[1].first, "b");
}

TEST(JsonWriter, WritesWhatCanBeReadBack) {
  for (int i = 1; i < static_cast<int>(DType::kCount); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (IsComplex(dtype)) continue;
    SCOPED_TRACE(DTypeName(dtype));
    Tensor t(dtype, {1, 3});
    if (dtype == DType::kString)
      FromStrings({"a\"\\\n\x01", "", "ü"}, t);
    else if (IsFloat(dtype))
      FromDoubles({0.5, 1, 2}, t);
    else
      FromLongs({0, 1, 1}, t);
    JsonWriter json;
    json.Value(t);
    auto back = ParseJsonTensor(json.text(), dtype);
    ASSERT_TRUE(back.ok()) << json.text() << back.status().ToString();
    EXPECT_TRUE(SameTensor(*back, t)) << json.text();
  }
}

TEST(JsonWriter, WritesOtherData) {
  JsonWriter json;
  json.Value(Datum::SequenceOf(
      {Datum::MapOf(Tensor::Ints({3}), {Tensor::Scalar(DType::kF32, 0.5)}), Datum::None()}));
  EXPECT_EQ(json.text(), "[{\"3\":{\"type\":\"f32\",\"shape\":[],\"data\":0.5}},null]");
}

TEST(JsonWriter, ReplacesBrokenText) {
  JsonWriter json;
  json.Text(
      "a\xff"
      "b");
  EXPECT_EQ(json.text(),
            "\"a\xef\xbf\xbd"
            "b\"");
}

TEST(Text, ReadsNumbersAndComments) {
  auto t = ParseText("1, 2\n# 9 9\n3;4.5\t-1e-3", DType::kF32);
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->size(), 5);
  EXPECT_FALSE(ParseText("1 two", DType::kF32).ok());
  EXPECT_FALSE(ParseText("1.5", DType::kI64).ok());
  EXPECT_FALSE(ParseText("256", DType::kU8).ok());
  EXPECT_FALSE(ParseText("-1", DType::kU64).ok());
}

TEST(Text, RoundTrips) {
  const Tensor t = Tensor::Of(DType::kF32, {2, 2}, {0.1, 2, -3, 1e-20});
  EXPECT_EQ(FormatText(t), "0.1 2\n-3 1e-20\n");
  EXPECT_EQ(ToStrings(*ParseText("a b\nc\r\n", DType::kString)), (std::vector<std::string>{"a b", "c"}));
}

}  // namespace
}  // namespace tern::data
