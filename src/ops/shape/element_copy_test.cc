#include "ops/shape/element_copy.h"

#include "ops/test_graph.h"

namespace tern {
namespace {

// Copies must be exact for every type, so a transpose and its inverse must restore the bytes.
TEST(ElementCopy, TransposeThereAndBackKeepsEveryType) {
  for (int d = 1; d < static_cast<int>(DType::kCount); ++d) {
    const auto dtype = static_cast<DType>(d);
    Tensor x(dtype, {2, 3, 5});
    if (dtype == DType::kString) {
      for (int i = 0; i < 30; ++i) x.data<std::string>()[i] = StrCat("s", i);
    } else {
      for (size_t i = 0; i < x.bytes(); ++i)
        x.data<uint8_t>()[i] = static_cast<uint8_t>(dtype == DType::kBool ? i % 2 : 37 * i + 11);
      if (BitWidth(dtype) < 8)
        x.data<uint8_t>()[x.bytes() - 1] &= static_cast<uint8_t>((1 << (30 * BitWidth(dtype) % 8)) - 1);
    }
    const Tensor y = OutputOf("Transpose", {x}, {{"perm", std::vector<int64_t>{2, 0, 1}}});
    const Tensor back = OutputOf("Transpose", {y}, {{"perm", std::vector<int64_t>{1, 2, 0}}});
    EXPECT_EQ(y.dims(), (Dims{5, 2, 3})) << DTypeName(dtype);
    EXPECT_FALSE(SameTensor(x.Reshaped({30}), y.Reshaped({30}))) << DTypeName(dtype);
    EXPECT_TRUE(SameTensor(x, back)) << DTypeName(dtype);
  }
}

TEST(ElementCopy, CopyMappedLeavesNegativeSources) {
  const Tensor x = Tensor::Of(DType::kI32, {2, 2}, {1, 2, 3, 4});
  Tensor y = Tensor::Of(DType::kI32, {2, 3}, {9, 9, 9, 9, 9, 9});
  CopyMapped(x, y, {{1, -1}, {0, -1, 1}});
  EXPECT_EQ(ToLongs(y), (std::vector<int64_t>{3, 9, 4, 9, 9, 9}));
}

}  // namespace
}  // namespace tern
