#include "import/common/extremes.h"

#include <gtest/gtest.h>

#include <limits>

namespace tern::import {
namespace {

template <class T> void Expect(DType dtype) {
  EXPECT_EQ(SmallestOf(dtype).data<T>()[0], std::numeric_limits<T>::lowest()) << DTypeName(dtype);
  EXPECT_EQ(LargestOf(dtype).data<T>()[0], std::numeric_limits<T>::max()) << DTypeName(dtype);
}

TEST(Extremes, AreExact) {
  Expect<float>(DType::kF32);
  Expect<double>(DType::kF64);
  Expect<int8_t>(DType::kI8);
  Expect<int16_t>(DType::kI16);
  Expect<int32_t>(DType::kI32);
  Expect<int64_t>(DType::kI64);
  Expect<uint8_t>(DType::kU8);
  Expect<uint16_t>(DType::kU16);
  Expect<uint32_t>(DType::kU32);
  Expect<uint64_t>(DType::kU64);
  EXPECT_EQ(LoadLong(SmallestOf(DType::kI4), 0), -8);
  EXPECT_EQ(LoadLong(LargestOf(DType::kI4), 0), 7);
  EXPECT_EQ(LoadLong(LargestOf(DType::kU4), 0), 15);
  EXPECT_EQ(LoadDouble(LargestOf(DType::kF16), 0), 65504);
  EXPECT_EQ(LoadDouble(SmallestOf(DType::kBF16), 0), -3.3895313892515355e38);
}

}  // namespace
}  // namespace tern::import
