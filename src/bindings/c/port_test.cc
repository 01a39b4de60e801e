// Tests feeding inputs and reading outputs of every element type through the C API.
#include <cmath>
#include <cstring>
#include <vector>

#include "bindings/c/test_support.h"

namespace tern::test {
namespace {

// A field of a protocol buffer: a number, or a length and bytes.
std::string Number(int field, int64_t value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string Bytes(int field, const std::string& value) {
  return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(value.size())} + value;
}

std::string ValueInfo(const char* name, int onnx_type) {
  const std::string dim = Bytes(1, Bytes(2, "N"));
  return Bytes(1, name) + Bytes(2, Bytes(1, Number(1, onnx_type) + Bytes(2, dim)));
}

// Returns the bytes of an ONNX model whose output y[N] is its input x[N].
std::string IdentityModel(int onnx_type) {
  const std::string node = Bytes(1, "x") + Bytes(2, "y") + Bytes(4, "Identity");
  const std::string graph = Bytes(1, node) + Bytes(2, "g") + Bytes(11, ValueInfo("x", onnx_type)) +
                            Bytes(12, ValueInfo("y", onnx_type));
  return Number(1, 10) + Bytes(7, graph) + Bytes(8, Number(2, 25));
}

Owned<TernPredictor> Identity(int onnx_type) {
  const std::string model = IdentityModel(onnx_type);
  return Create(ConfigOf(model.data(), model.size()));
}

struct TypeRow {
  TernDType dtype;
  int onnx;  // TensorProto.DataType
  const char* name;
};
const TypeRow kTypes[] = {
    {TERN_F32, 1, "f32"},
    {TERN_F64, 11, "f64"},
    {TERN_F16, 10, "f16"},
    {TERN_BF16, 16, "bf16"},
    {TERN_F8E4M3FN, 17, "f8e4m3fn"},
    {TERN_F8E4M3FNUZ, 18, "f8e4m3fnuz"},
    {TERN_F8E5M2, 19, "f8e5m2"},
    {TERN_F8E5M2FNUZ, 20, "f8e5m2fnuz"},
    {TERN_F8E8M0, 24, "f8e8m0"},
    {TERN_F4E2M1, 23, "f4e2m1"},
    {TERN_I8, 3, "i8"},
    {TERN_I16, 5, "i16"},
    {TERN_I32, 6, "i32"},
    {TERN_I64, 7, "i64"},
    {TERN_U8, 2, "u8"},
    {TERN_U16, 4, "u16"},
    {TERN_U32, 12, "u32"},
    {TERN_U64, 13, "u64"},
    {TERN_I4, 22, "i4"},
    {TERN_U4, 21, "u4"},
    {TERN_I2, 26, "i2"},
    {TERN_U2, 25, "u2"},
    {TERN_BOOL, 9, "bool"},
    {TERN_C64, 14, "c64"},
    {TERN_C128, 15, "c128"},
};

// The bytes of 5 elements. Only 0 and 1 are valid bytes of a bool.
std::vector<uint8_t> Sample(TernDType dtype) {
  std::vector<uint8_t> bytes((5 * tern_dtype_bits(dtype) + 7) / 8);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = dtype == TERN_BOOL ? i % 2 : static_cast<uint8_t>(17 * i + 1);
  if (tern_dtype_bits(dtype) < 8) bytes.back() &= (1 << (5 * tern_dtype_bits(dtype) % 8)) - 1;
  return bytes;
}

TEST(CPort, CarriesEveryElementType) {
  for (const TypeRow& row : kTypes) {
    const auto p = Identity(row.onnx);
    EXPECT_STREQ(tern_dtype_name(row.dtype), row.name);
    TernPort* x = InputOf(p, "x");
    EXPECT_EQ(tern_port_dtype(x), row.dtype);
    const std::vector<uint8_t> sample = Sample(row.dtype);
    const int64_t five = 5;
    ExpectOk(tern_port_copy_from(x, row.dtype, sample.data(), sample.size(), &five, 1));
    ExpectOk(tern_predictor_run(p.get(), nullptr));
    TernPort* y = OutputOf(p, "y");
    EXPECT_EQ(tern_port_size(y), 5u);
    EXPECT_EQ(tern_port_bytes(y), sample.size());
    std::vector<uint8_t> out(sample.size());
    ExpectOk(tern_port_copy_to(y, row.dtype, out.data(), out.size()));
    EXPECT_EQ(out, sample) << tern_dtype_name(row.dtype);
    EXPECT_EQ(std::memcmp(tern_port_data(y), sample.data(), sample.size()), 0);

    const auto value =
        Make<TernValue>(tern_value_tensor, row.dtype, sample.data(), sample.size(), &five, size_t{1});
    EXPECT_EQ(tern_value_bytes(value.get()), sample.size());
    ExpectOk(tern_port_set_value(x, value.get()));
    EXPECT_EQ(tern_port_data(x), nullptr);
    std::fill(out.begin(), out.end(), 0);
    ExpectOk(tern_port_copy_to(x, row.dtype, out.data(), out.size()));
    EXPECT_EQ(out, sample) << tern_dtype_name(row.dtype);
    const TernDType other = row.dtype == TERN_F32 ? TERN_I32 : TERN_F32;
    const float wrong[5] = {};
    ExpectFails(tern_port_copy_from(x, other, wrong, sizeof wrong, &five, 1), TERN_INVALID_ARGUMENT,
                tern_dtype_name(other));
  }
}

TEST(CPort, CarriesStrings) {
  const auto p = Identity(8);
  TernPort* x = InputOf(p, "x");
  const char* words[] = {"gull", "t\0rn", ""};
  const size_t lengths[] = {4, 4, 0};
  const int64_t dims[] = {3};
  ExpectOk(tern_port_copy_strings(x, words, lengths, 3, dims, 1));
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  TernPort* y = OutputOf(p, "y");
  EXPECT_EQ(tern_port_dtype(y), TERN_STRING);
  EXPECT_EQ(tern_port_size(y), 3u);
  EXPECT_EQ(tern_port_bytes(y), 0u);
  EXPECT_EQ(tern_port_data(y), nullptr);
  for (size_t i = 0; i < 3; ++i) {
    size_t length = 99;
    const char* text = tern_port_string(y, i, &length);
    ASSERT_NE(text, nullptr);
    EXPECT_EQ(std::string(text, length), std::string(words[i], lengths[i]));
  }
  size_t length = 99;
  EXPECT_EQ(tern_port_string(y, 3, &length), nullptr);
  EXPECT_EQ(length, 0u);
  ExpectOk(tern_port_copy_strings(x, words, nullptr, 3, dims, 1));
  EXPECT_STREQ(tern_port_string(x, 1, &length), "t");
  EXPECT_EQ(length, 1u);
  ExpectFails(tern_port_copy_strings(x, words, nullptr, 2, dims, 1), TERN_INVALID_ARGUMENT, "2 elements");
  words[2] = nullptr;
  ExpectFails(tern_port_copy_strings(x, words, nullptr, 3, dims, 1), TERN_INVALID_ARGUMENT, "string 2 of 3");
  char out[8];
  ExpectFails(tern_port_copy_to(y, TERN_STRING, out, 8), TERN_INVALID_ARGUMENT, "string");
  ExpectFails(tern_port_copy_to(y, TERN_F64, out, 8), TERN_INVALID_ARGUMENT, "string");
  ExpectFails(tern_port_copy_from(x, TERN_STRING, out, 8, dims, 1), TERN_INVALID_ARGUMENT, "strings");
  ExpectFails(tern_port_share(x, TERN_STRING, out, 8, dims, 1), TERN_INVALID_ARGUMENT, "strings");
}

TEST(CPort, MakesBytesOfABoolValid) {
  const auto p = Identity(9);
  const uint8_t flags[] = {0, 1, 255};
  const int64_t dims[] = {3};
  ExpectOk(tern_port_copy_from(InputOf(p, "x"), TERN_BOOL, flags, 3, dims, 1));
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  const auto* out = static_cast<const uint8_t*>(tern_port_data(OutputOf(p, "y")));
  EXPECT_EQ(std::vector<uint8_t>(out, out + 3), (std::vector<uint8_t>{0, 1, 1}));
  const auto value = Make<TernValue>(tern_value_tensor, TERN_BOOL, flags, size_t{3}, dims, size_t{1});
  out = static_cast<const uint8_t*>(tern_value_data(value.get()));
  EXPECT_EQ(std::vector<uint8_t>(out, out + 3), (std::vector<uint8_t>{0, 1, 1}));
}

TEST(CPort, ConvertsIfTheConversionIsExact) {
  const auto p = Identity(10);
  const uint16_t halves[] = {0x3c00, 0xc000};  // 1, -2
  const int64_t dims[] = {2};
  ExpectOk(tern_port_copy_from(InputOf(p, "x"), TERN_F16, halves, sizeof halves, dims, 1));
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  TernPort* y = OutputOf(p, "y");
  float floats[2];
  ExpectOk(tern_port_copy_to(y, TERN_F32, floats, sizeof floats));
  EXPECT_EQ(floats[0], 1);
  EXPECT_EQ(floats[1], -2);
  double doubles[2];
  ExpectOk(tern_port_copy_to(y, TERN_F64, doubles, sizeof doubles));
  EXPECT_EQ(doubles[1], -2);
  ExpectFails(tern_port_copy_to(y, TERN_BF16, floats, 4), TERN_INVALID_ARGUMENT, "bf16 does not represent");
  ExpectFails(tern_port_copy_to(y, TERN_F32, floats, 4), TERN_INVALID_ARGUMENT, "room is 4 bytes");
  ExpectFails(tern_port_copy_to(y, TERN_F32, nullptr, 8), TERN_INVALID_ARGUMENT, "NULL");
  ExpectFails(tern_port_copy_to(y, 77, floats, 8), TERN_INVALID_ARGUMENT, "77");
}

TEST(CPort, ReadsTheCallersMemory) {
  const auto p = Identity(1);
  float in[2] = {1, 2}, out[2] = {};
  const int64_t dims[] = {2};
  ExpectOk(tern_port_share(InputOf(p, "x"), TERN_F32, in, sizeof in, dims, 1));
  ExpectOk(tern_port_bind(OutputOf(p, "y"), TERN_F32, out, sizeof out, dims, 1));
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  EXPECT_EQ(out[1], 2);
  in[1] = 5;
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  EXPECT_EQ(out[1], 5);
  EXPECT_EQ(tern_port_data(OutputOf(p, "y")), out);
  ExpectOk(tern_port_reset(OutputOf(p, "y")));
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  EXPECT_NE(tern_port_data(OutputOf(p, "y")), out);
  ExpectFails(tern_port_bind(OutputOf(p, "y"), TERN_F32, reinterpret_cast<char*>(out) + 1, 4, dims, 0),
              TERN_INVALID_ARGUMENT, "aligned");
  ExpectFails(tern_port_bind(InputOf(p, "x"), TERN_F32, out, sizeof out, dims, 1), TERN_INVALID_ARGUMENT,
              "cannot be bound");
  ExpectFails(tern_port_share(OutputOf(p, "y"), TERN_F32, out, sizeof out, dims, 1), TERN_INVALID_ARGUMENT,
              "cannot be fed");
}

TEST(CPort, AllocatesMemoryToFill) {
  const auto p = Identity(1);
  TernPort* x = InputOf(p, "x");
  const int64_t dims[] = {3};
  EXPECT_EQ(tern_port_data(x), nullptr);
  ExpectOk(tern_port_reshape(x, dims, 1));
  auto* data = static_cast<float*>(tern_port_data(x));
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(data[2], 0);
  data[2] = 4;
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  EXPECT_EQ(static_cast<const float*>(tern_port_data(OutputOf(p, "y")))[2], 4);
}

TEST(CPort, RefusesWrongShapes) {
  const auto p = Identity(1);
  TernPort* x = InputOf(p, "x");
  const float data[4] = {};
  const int64_t four = 4, open = -1;
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  ExpectFails(tern_port_copy_from(x, TERN_F32, data, 12, &four, 1), TERN_INVALID_ARGUMENT,
              "got 12 bytes, but f32[4] has 16");
  ExpectFails(tern_port_copy_from(x, TERN_F32, data, 16, &open, 1), TERN_INVALID_ARGUMENT,
              "impossible shape [-1]");
  ExpectFails(tern_port_copy_from(x, TERN_F32, data, 16, huge, 2), TERN_INVALID_ARGUMENT, "impossible shape");
  ExpectFails(tern_port_reshape(x, huge, 2), TERN_INVALID_ARGUMENT, "impossible shape");
  ExpectFails(tern_port_copy_from(x, TERN_F32, nullptr, 16, &four, 1), TERN_INVALID_ARGUMENT, "at NULL");
  ExpectFails(tern_port_copy_from(x, TERN_F32, data, 16, nullptr, 1), TERN_INVALID_ARGUMENT,
              "'dims' is NULL");
  ExpectFails(tern_port_copy_from(x, 99, data, 16, &four, 1), TERN_INVALID_ARGUMENT,
              "99 is not an element type");
  ExpectFails(tern_port_copy_from(x, TERN_F64, data, 16, &open, 0), TERN_INVALID_ARGUMENT,
              "port 'x' (f32[N])");
  ExpectOk(tern_port_copy_from(x, TERN_F32, data, 4, nullptr, 0));  // a scalar, which the run refuses
  ExpectFails(tern_predictor_run(p.get(), nullptr), TERN_INVALID_ARGUMENT, "x");
}

TEST(CPort, OverridesConstants) {
  const auto p = Kinds();
  ASSERT_EQ(tern_predictor_overridable_count(p.get()), 1u);
  TernPort* w = tern_predictor_overridable_at(p.get(), 0);
  EXPECT_STREQ(tern_port_name(w), "w");
  EXPECT_EQ(InputOf(p, "w"), w);
  const auto stored = Make<TernValue>(tern_port_get_value, w);
  EXPECT_EQ(static_cast<const float*>(tern_value_data(stored.get()))[1], 100);
  const float other[] = {2, 3};
  const int64_t dims[] = {2};
  ExpectOk(tern_port_copy_from(w, TERN_F32, other, sizeof other, dims, 1));
  const auto fed = Make<TernValue>(tern_port_get_value, w);
  EXPECT_EQ(static_cast<const float*>(tern_value_data(fed.get()))[1], 3);
  ExpectOk(tern_port_reset(w));
  TernValue* none = nullptr;
  ExpectFails(tern_port_get_value(InputOf(p, "x"), &none), TERN_NOT_FOUND, "port 'x' (f32[N,2])");
}

}  // namespace
}  // namespace tern::test
