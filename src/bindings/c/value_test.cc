// Tests values of every kind through the C API.
#include <cstring>
#include <vector>

#include "bindings/c/test_support.h"

namespace tern::test {
namespace {

Owned<TernValue> Floats(const std::vector<float>& data, const std::vector<int64_t>& dims) {
  return Make<TernValue>(tern_value_tensor, TERN_F32, data.data(), data.size() * sizeof(float), dims.data(),
                         dims.size());
}

Owned<TernValue> At(const Owned<TernValue>& value, size_t index) {
  return Make<TernValue>(tern_value_at, value.get(), index);
}

// Feeds x = [[1,2],[3,4]], m = {p: 5, r: 7}, s = [[9]] and runs the model.
Owned<TernPredictor> RunKinds() {
  auto p = Kinds();
  ExpectOk(tern_port_set_value(InputOf(p, "x"), Floats({1, 2, 3, 4}, {2, 2}).get()));
  const auto five = Floats({5}, {}), seven = Floats({7}, {}), nine = Floats({9}, {1});
  const char* keys[] = {"p", "r"};
  const TernValue* values[] = {five.get(), seven.get()};
  const auto map =
      Make<TernValue>(tern_value_map_strings, keys, static_cast<const size_t*>(nullptr), values, size_t{2});
  ExpectOk(tern_port_set_value(InputOf(p, "m"), map.get()));
  const TernValue* items[] = {nine.get()};
  ExpectOk(
      tern_port_set_value(InputOf(p, "s"), Make<TernValue>(tern_value_sequence, items, size_t{1}).get()));
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  return p;
}

Owned<TernValue> Output(const Owned<TernPredictor>& p, const char* name) {
  return Make<TernValue>(tern_port_get_value, OutputOf(p, name));
}

TEST(CValue, ReadsASequenceOfMaps) {
  Owned<TernValue> zip, izip;
  {
    const auto p = RunKinds();
    EXPECT_EQ(tern_port_dtype(OutputOf(p, "zip")), TERN_INVALID_DTYPE);
    EXPECT_EQ(tern_port_declared_rank(OutputOf(p, "zip")), -1);
    zip = Output(p, "zip"), izip = Output(p, "izip");
  }  // values outlive the predictor
  EXPECT_EQ(tern_value_kind(zip.get()), TERN_KIND_SEQUENCE);
  EXPECT_STREQ(tern_value_type(zip.get()), "seq(map(string,f32[]))");
  ASSERT_EQ(tern_value_size(zip.get()), 2u);
  auto row = At(zip, 1);
  zip.reset();  // items outlive the sequence
  EXPECT_EQ(tern_value_kind(row.get()), TERN_KIND_MAP);
  EXPECT_EQ(tern_value_key_type(row.get()), TERN_STRING);
  ASSERT_EQ(tern_value_size(row.get()), 2u);
  float sum = 0;
  for (size_t i = 0; i < 2; ++i) {
    size_t length = 0;
    const std::string key = tern_value_key_string(row.get(), i, &length);
    EXPECT_EQ(length, 1u);
    const auto found = Make<TernValue>(tern_value_find_string, row.get(), key.c_str());
    const auto same = At(row, i);
    EXPECT_EQ(std::memcmp(tern_value_data(found.get()), tern_value_data(same.get()), sizeof(float)), 0);
    double element = 0;
    ExpectOk(tern_value_copy_to(found.get(), TERN_F64, &element, sizeof element));
    sum += static_cast<float>(element);
  }
  EXPECT_EQ(sum, 3 * 10 + 4 * 100);
  int64_t key = 0;
  ExpectOk(tern_value_key_i64(At(izip, 0).get(), 0, &key));
  EXPECT_TRUE(key == 7 || key == 3);
  const auto three = Make<TernValue>(tern_value_find_i64, At(izip, 0).get(), int64_t{3});
  EXPECT_EQ(tern_value_dtype(three.get()), TERN_F32);
}

TEST(CValue, ReadsTensorsAndSequences) {
  const auto p = RunKinds();
  const auto d = Output(p, "d");
  const auto* data = static_cast<const float*>(tern_value_data(d.get()));
  EXPECT_EQ(std::vector<float>(data, data + 3), (std::vector<float>{5, 0, 7}));
  const auto t = Output(p, "t");
  ASSERT_EQ(tern_value_size(t.get()), 2u);
  int64_t dims[2] = {};
  EXPECT_EQ(tern_value_shape(At(t, 1).get(), dims, 1), 2u);
  EXPECT_EQ(dims[0], 2);
  EXPECT_EQ(dims[1], 0);
  EXPECT_EQ(tern_value_shape(At(t, 1).get(), nullptr, 0), 2u);
}

TEST(CValue, MakesStringsAndNone) {
  const char* words[] = {"a\0b", "c"};
  const size_t lengths[] = {3, 1};
  const int64_t dims[] = {2, 1};
  const auto value = Make<TernValue>(tern_value_strings, words, lengths, size_t{2}, dims, size_t{2});
  EXPECT_EQ(tern_value_dtype(value.get()), TERN_STRING);
  EXPECT_STREQ(tern_value_type(value.get()), "string[2,1]");
  EXPECT_EQ(tern_value_data(value.get()), nullptr);
  size_t length = 0;
  EXPECT_EQ(std::string(tern_value_string(value.get(), 0, &length), 3), std::string("a\0b", 3));
  EXPECT_EQ(length, 3u);
  EXPECT_STREQ(tern_value_string(value.get(), 1, nullptr), "c");
  EXPECT_EQ(tern_value_string(value.get(), 2, nullptr), nullptr);
  const auto none = Make<TernValue>(tern_value_none);
  EXPECT_EQ(tern_value_kind(none.get()), TERN_KIND_NONE);
  EXPECT_EQ(tern_value_size(none.get()), 0u);
  const auto empty = Make<TernValue>(tern_value_sequence, static_cast<TernValue**>(nullptr), size_t{0});
  EXPECT_STREQ(tern_value_type(empty.get()), "seq(unknown)");
}

TEST(CValue, RefusesWhatDoesNotFit) {
  const auto number = Floats({1}, {}), vector = Floats({1, 2}, {2});
  const auto word = [] {
    const char* text = "a";
    return Make<TernValue>(tern_value_strings, &text, static_cast<size_t*>(nullptr), size_t{1},
                           static_cast<int64_t*>(nullptr), size_t{0});
  }();
  TernValue* out = number.get();
  const TernValue* mixed[] = {number.get(), word.get()};
  ExpectFails(tern_value_sequence(mixed, 2, &out), TERN_INVALID_ARGUMENT, "item 1 is string[]");
  EXPECT_EQ(out, nullptr);
  const TernValue* holes[] = {number.get(), nullptr};
  ExpectFails(tern_value_sequence(holes, 2, &out), TERN_INVALID_ARGUMENT, "value 1 of 2 is NULL");
  ExpectFails(tern_value_sequence(nullptr, 2, &out), TERN_INVALID_ARGUMENT, "has 2 elements");
  const int64_t twice[] = {4, 4};
  const TernValue* numbers[] = {number.get(), number.get()};
  ExpectFails(tern_value_map_i64(twice, numbers, 2, &out), TERN_INVALID_ARGUMENT, "twice");
  ExpectFails(tern_value_map_i64(nullptr, numbers, 2, &out), TERN_INVALID_ARGUMENT, "keys is NULL");
  ExpectFails(tern_value_map_i64(twice, nullptr, 2, &out), TERN_INVALID_ARGUMENT, "values is NULL");
  ExpectFails(tern_value_at(number.get(), 0, &out), TERN_INVALID_ARGUMENT, "f32[], neither a sequence");
  const int64_t one[] = {4};
  const auto map = Make<TernValue>(tern_value_map_i64, one, numbers, size_t{1});
  ExpectFails(tern_value_at(map.get(), 1, &out), TERN_NOT_FOUND, "no item 1");
  ExpectFails(tern_value_find_i64(map.get(), 5, &out), TERN_NOT_FOUND, "no key 5");
  ExpectFails(tern_value_find_string(map.get(), "5", &out), TERN_INVALID_ARGUMENT, "keys are strings");
  int64_t key = 11;
  ExpectFails(tern_value_key_i64(map.get(), 1, &key), TERN_INVALID_ARGUMENT, "no key 1");
  ExpectFails(tern_value_key_i64(number.get(), 0, &key), TERN_INVALID_ARGUMENT, "f32[]");
  EXPECT_EQ(key, 11);
  EXPECT_EQ(tern_value_key_string(map.get(), 0, nullptr), nullptr);
  double doubles[2];
  ExpectFails(tern_value_copy_to(vector.get(), TERN_F64, doubles, 8), TERN_INVALID_ARGUMENT,
              "16 bytes as f64");
  ExpectFails(tern_value_copy_to(map.get(), TERN_F64, doubles, 8), TERN_INVALID_ARGUMENT, "not a tensor");
  ExpectFails(tern_value_tensor(TERN_F32, doubles, 8, nullptr, 0, &out), TERN_INVALID_ARGUMENT,
              "got 8 bytes, but f32[] has 4");
}

}  // namespace
}  // namespace tern::test
