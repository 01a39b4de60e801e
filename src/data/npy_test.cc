#include "data/npy.h"

#include <gtest/gtest.h>

#include "data/npy_header.h"

namespace tern::data {
namespace {

std::string File(const std::string& dict, const std::string& data, char version = 1) {
  std::string out("\x93NUMPY", 6);
  out += version;
  out += '\0';
  const size_t n = dict.size();
  out += static_cast<char>(n & 255);
  out += static_cast<char>(n >> 8);
  if (version > 1) out += std::string(2, '\0');
  return out + dict + data;
}

std::string Dict(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

TEST(Npy, RoundTripsEveryType) {
  for (int i = 1; i < static_cast<int>(DType::kCount); ++i) {
    const auto dtype = static_cast<DType>(i);
    SCOPED_TRACE(DTypeName(dtype));
    Tensor t(dtype, {2, 3});
    for (int64_t k = 0; k < 6; ++k) {
      if (dtype == DType::kString)
        t.data<std::string>()[k] = k == 4 ? "" : StrCat("wörd", k);
      else if (IsComplex(dtype))
        t.data<uint8_t>()[k] = static_cast<uint8_t>(k);
      else if (IsFloat(dtype))
        StoreDouble(t, k, dtype == DType::kF8E8M0 ? 1 << k : k - 2);
      else
        StoreLong(t, k, k % 2);
    }
    auto bytes = FormatNpy(t);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    EXPECT_EQ((ParseNpyHeader(*bytes)->data_offset) % 64, 0u);
    auto stored = ParseNpy(*bytes);
    ASSERT_TRUE(stored.ok()) << stored.status().ToString();
    auto back = AdoptStorage(*stored, dtype);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_TRUE(SameTensor(*back, t));
  }
}

TEST(Npy, KeepsNegativeSmallIntegers) {
  const Tensor t = Tensor::Of(DType::kI4, {5}, {-8, -1, 0, 3, 7});
  const Tensor stored = ToStorage(t);
  EXPECT_EQ(ToLongs(stored), (std::vector<int64_t>{-8, -1, 0, 3, 7}));
  auto back = AdoptStorage(stored, DType::kI4);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(ToLongs(*back), ToLongs(t));
}

TEST(Npy, RefusesValuesOutsideASmallType) {
  auto t = AdoptStorage(Tensor::Of(DType::kI8, {1}, {8}), DType::kI4);
  ASSERT_FALSE(t.ok());
  EXPECT_NE(t.status().message().find("-8 to 7"), std::string::npos);
}

TEST(Npy, RefusesAnotherType) {
  EXPECT_FALSE(AdoptStorage(Tensor::Scalar(DType::kF64, 1), DType::kF32).ok());
}

TEST(Npy, ReadsScalarsAndEmptyTensors) {
  EXPECT_EQ(ParseNpy(File(Dict("<i4", "()"), std::string("\x07\0\0\0", 4)))->dims(), Dims{});
  EXPECT_EQ(ParseNpy(File(Dict("<i4", "(0, 3)"), ""))->dims(), (Dims{0, 3}));
}

TEST(Npy, ReadsBothByteOrdersAndAllVersions) {
  for (const char version : {1, 2, 3}) {
    auto big = ParseNpy(File(Dict(">i2", "(2,)"), std::string("\x01\x02\xff\xfe", 4), version));
    ASSERT_TRUE(big.ok()) << big.status().ToString();
    EXPECT_EQ(ToLongs(*big), (std::vector<int64_t>{0x102, -2}));
  }
}

TEST(Npy, SwapsTheBytesOfEachPartOfAComplexNumber) {
  auto t = ParseNpy(File(Dict(">c8", "(1,)"), std::string("\x3f\x80\0\0\x40\0\0\0", 8)));
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->data<float>()[0], 1);
  EXPECT_EQ(t->data<float>()[1], 2);
}

TEST(Npy, ReadsFortranOrder) {
  auto t = ParseNpy(File(Dict("|u1", "(2, 3)", true), "\x01\x04\x02\x05\x03\x06"));
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->dims(), (Dims{2, 3}));
  EXPECT_EQ(ToLongs(*t), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, ReadsVoidAsBits) {
  EXPECT_EQ(ParseNpy(File(Dict("<V2", "(1,)"), "\x80\x3f"))->dtype(), DType::kU16);
}

TEST(Npy, ReadsTextOfBothOrders) {
  EXPECT_EQ(ToStrings(*ParseNpy(File(Dict("<U2", "(1,)"), std::string("\xe4\0\0\0\0\0\0\0", 8)))),
            std::vector<std::string>{"ä"});
  EXPECT_EQ(ToStrings(*ParseNpy(File(Dict(">U1", "(1,)"), std::string("\0\0\0\x41", 4)))),
            std::vector<std::string>{"A"});
  EXPECT_EQ(ToStrings(*ParseNpy(File(Dict("|S3", "(1,)"), std::string("ab\0", 3)))),
            std::vector<std::string>{"ab"});
}

TEST(Npy, StoresBytesThatAreNotText) {
  const Tensor t = Tensor::Strings({2}, {"\xff\xfe", "ok"});
  EXPECT_TRUE(SameTensor(*ParseNpy(*FormatNpy(t)), t));
}

TEST(Npy, RefusesHostileFiles) {
  const std::string good = File(Dict("<f4", "(2,)"), std::string(8, 'x'));
  ASSERT_TRUE(ParseNpy(good).ok());
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(ParseNpy(good.substr(0, n)).ok()) << n;
  const char* bad[] = {
      // The byte count overflows.
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000), }",
      // The header claims 2.4 GB, but there is no data.
      "{'descr': '<f4', 'fortran_order': False, 'shape': (600000000,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
      // Empty strings need no data, but there are too many of them.
      "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000,), }",
      "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
      "{'descr': '|O8', 'fortran_order': False, 'shape': (1,), }",
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
      "{'descr': '<f3', 'fortran_order': False, 'shape': (0,), }",
      "{'descr': '<f4', 'shape': (0,), }",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (0,)}",
      "{'descr': '<f4' 'fortran_order': False, 'shape': (0,)}",
      "__import__('os')",
      "{",
      "",
  };
  for (const char* dict : bad) EXPECT_FALSE(ParseNpy(File(dict, "")).ok()) << dict;
  EXPECT_FALSE(ParseNpy(File(Dict("<U1", "(1,)"), std::string("\0\0\x11\0", 4))).ok());  // beyond Unicode
  std::string version = good;
  version[6] = 9;
  EXPECT_FALSE(ParseNpy(version).ok());
}

TEST(Npy, SurvivesFlippedBytes) {
  const std::string good = File(Dict("<U3", "(2, 2)"), std::string(48, '\1'));
  for (size_t i = 0; i < good.size(); ++i)
    for (const int flip : {1, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      (void)ParseNpy(bad).ok();  // may succeed or fail, but must not crash
    }
}

}  // namespace
}  // namespace tern::data
