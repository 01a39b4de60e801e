#include "import/torch/weights.h"

#include <gtest/gtest.h>

namespace tern::torch {
namespace {

Buffer Floats(size_t n) {
  Buffer b = Buffer::Allocate(n * 4);
  for (size_t i = 0; i < n; ++i) reinterpret_cast<float*>(b.data())[i] = static_cast<float>(i);
  return b;
}

TEST(TensorOfStorage, SharesRowMajorStorages) {
  const Buffer storage = Floats(12);
  const auto t = TensorOfStorage(storage, DType::kF32, {2, 3}, {3, 1}, 4);
  ASSERT_TRUE(t.ok());
  EXPECT_TRUE(t->buffer().SharesWith(storage));
  EXPECT_EQ(ToDoubles(*t), (std::vector<double>{4, 5, 6, 7, 8, 9}));
}

TEST(TensorOfStorage, CopiesOtherStrides) {
  const auto t = TensorOfStorage(Floats(12), DType::kF32, {3, 2}, {1, 3}, 1);
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(ToDoubles(*t), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  const auto expanded = TensorOfStorage(Floats(4), DType::kF32, {2, 2, 2}, {0, 1, 0}, 0);
  ASSERT_TRUE(expanded.ok());
  EXPECT_EQ(ToDoubles(*expanded), (std::vector<double>{0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST(TensorOfStorage, ChecksBounds) {
  EXPECT_FALSE(TensorOfStorage(Floats(5), DType::kF32, {2, 3}, {3, 1}, 0).ok());
  EXPECT_FALSE(TensorOfStorage(Floats(6), DType::kF32, {2, 3}, {3, 1}, 1).ok());
  EXPECT_FALSE(TensorOfStorage(Floats(6), DType::kF32, {2, 3}, {-3, 1}, 0).ok());
  EXPECT_FALSE(TensorOfStorage(Floats(6), DType::kF32, {2, 3}, {3, 1}, -1).ok());
  EXPECT_FALSE(TensorOfStorage(Floats(6), DType::kF32, {2, -3}, {3, 1}, 0).ok());
  EXPECT_FALSE(TensorOfStorage(Floats(6), DType::kF32, {2, 3}, {INT64_MAX, 1}, 0).ok());
  EXPECT_FALSE(TensorOfStorage(Floats(6), DType::kF32, {2, 3}, {1}, 0).ok());
  EXPECT_TRUE(TensorOfStorage(Floats(0), DType::kF32, {0, 3}, {3, 1}, 0).ok());
}

}  // namespace
}  // namespace tern::torch
