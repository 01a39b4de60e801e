// Tests what Python cannot see: types of C++ numbers, errors that spread, sharing. tests/np compares with
// numpy.
#include "np/rep.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tern::v1::np {
namespace {

TEST(Np, NumbersAdaptToTheArray) {
  EXPECT_EQ((array<float>({1, 2}) + 1).dtype(), DType::kF32);
  EXPECT_EQ((array<float>({1, 2}) * 0.5).dtype(), DType::kF32);
  EXPECT_EQ((array<int32_t>({1, 2}) + 1).dtype(), DType::kI32);
  EXPECT_EQ((array<int32_t>({1, 2}) + 0.5).dtype(), DType::kF64);
  EXPECT_EQ((array<uint8_t>({1, 2}) + 1).dtype(), DType::kU8);
  EXPECT_EQ((array(std::vector<bool>{true}) + 1).dtype(), DType::kI64);
  EXPECT_EQ((array<float>({1, 2}) + scalar(1.0)).dtype(), DType::kF64);
  EXPECT_EQ((array<uint8_t>({1, 2}) + 300).status().message(), "the number 300 is outside the range of u8");
  EXPECT_EQ(result_type({array<float>({1}), array<int32_t>({1})}), DType::kF64);
}

TEST(Np, ErrorsSpread) {
  const Array bad = array<float>({1, 2, 3}) + array<float>({1, 2});
  EXPECT_EQ(bad.status().message(), "shapes do not broadcast: [3] and [2]");
  EXPECT_EQ(bad.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(bad.dtype(), DType::kInvalid);
  EXPECT_EQ(bad.size(), 0);
  EXPECT_EQ(bad.data<float>(), nullptr);
  EXPECT_EQ(bad.item<double>(), 0);
  EXPECT_TRUE(bad.to_vector<float>().empty());
  EXPECT_EQ(bad.str(), "error: shapes do not broadcast: [3] and [2]");
  for (const Array& a : {sum(bad),
                         bad + 1,
                         matmul(bad, bad),
                         bad(0),
                         bad[bad],
                         linalg::inv(bad),
                         sort(bad),
                         concatenate({bad, bad}),
                         einsum("i->", {bad}),
                         where(bad, 1, 2),
                         median(bad),
                         linalg::svd(bad).u,
                         unique_all(bad).counts,
                         pad(bad, {{1, 1}}),
                         split(bad, 2)[0],
                         nonzero(bad)[0],
                         bad.reshape({3}),
                         bad.T(),
                         full_like(bad, 1),
                         argmax(bad, 0),
                         round(bad, 2)})
    EXPECT_EQ(a.status().message(), bad.status().message());
  EXPECT_FALSE(allclose(bad, bad));
  EXPECT_FALSE(array_equal(bad, bad));
}

TEST(Np, CopiesShareTheElements) {
  const Array a = arange(6.0);
  EXPECT_EQ(Array(a).data<double>(), a.data<double>());
  EXPECT_EQ(a.reshape({2, 3}).data<double>(), a.data<double>());
  EXPECT_EQ(a(newaxis).data<double>(), a.data<double>());
  const double* elements = nullptr;
  Array slice_of;
  {
    const Array inner = a * 2;
    slice_of = inner.reshape({3, 2});
    elements = inner.data<double>();
  }
  EXPECT_EQ(slice_of.data<double>(), elements);
  EXPECT_EQ(slice_of(2, 1).item<double>(), 10);
}

TEST(Np, ReadsElements) {
  const Array a = array<int32_t>({1, -2, 3, 4}, {2, 2});
  EXPECT_EQ(a.str(), "i32[2,2] [[1, -2], [3, 4]]");
  EXPECT_EQ(a.data<float>(), nullptr);
  EXPECT_EQ(a.to_vector<double>(), (std::vector<double>{1, -2, 3, 4}));
  EXPECT_EQ(a(0, 1).item<int>(), -2);
  EXPECT_EQ(a[1].shape(), (Shape{2}));
  EXPECT_EQ(Array().str(), "f64[0] []");
  EXPECT_EQ(Array(true).str(), "bool[] true");
  EXPECT_EQ(Array(1e300).item<double>(), 1e300);
  EXPECT_EQ(Array(1e300).item<int64_t>(), INT64_MAX);
  EXPECT_EQ(Array(std::nan("")).item<int64_t>(), 0);
  EXPECT_EQ(a[a > 1].to_vector<int32_t>(), (std::vector<int32_t>{3, 4}));
}

TEST(Np, RefusesImpossibleShapes) {
  EXPECT_FALSE(zeros({-1}).ok());
  EXPECT_FALSE(zeros({int64_t{1} << 40, int64_t{1} << 40}).ok());
  EXPECT_FALSE(zeros(Shape(17, 1)).ok());
  EXPECT_FALSE(array<float>({1, 2, 3}, {2, 2}).ok());
  EXPECT_FALSE(tile(ones({3}), {int64_t{1} << 62}).ok());
  EXPECT_FALSE(repeat(ones({3}), int64_t{1} << 62).ok());
  EXPECT_FALSE(pad(ones({3}), {{int64_t{1} << 62, int64_t{1} << 62}}).ok());
  EXPECT_FALSE(arange(0.0, 1e300).ok());
  EXPECT_FALSE(arange(0, 5, 0).ok());
  EXPECT_FALSE(zeros({2}, DType::kString).ok());
  EXPECT_FALSE(zeros({2}, DType::kF16).ok());
}

TEST(Np, BincountRefusesMoreCountsThanMemoryHolds) {
  for (const int64_t value : {INT64_MAX, int64_t{1} << 50}) {
    const Array counts = bincount(array<int64_t>({1, value}));
    EXPECT_NE(counts.status().message().find(std::to_string(value)), std::string::npos) << counts.str();
    EXPECT_NE(bincount(arange(3), value).status().message().find(std::to_string(value)), std::string::npos);
  }
}

TEST(Np, SplitRefusesAxesThatDoNotExist) {
  for (const int64_t axis : {-3, 2})
    for (const Array& part : split(ones({4, 6}), Shape{2}, axis))
      EXPECT_EQ(part.status().message(), StrCat("axis ", axis, " does not exist; there are 2 axes"));
  EXPECT_EQ(split(ones({4, 6}), Shape{2}, -2)[1].shape(), (Shape{2, 6}));
}

TEST(Np, PaddingTakesNoMemoryBesideTheResult) {
  const int64_t wide = int64_t{1} << 42;
  for (const char* mode : {"edge", "reflect", "symmetric", "wrap"})
    EXPECT_EQ(pad(zeros({3, 0}), {{wide, 0}, {0, 0}}, mode).shape(), (Shape{wide + 3, 0})) << mode;
  for (const char* mode : {"edge", "reflect", "symmetric", "wrap"})
    EXPECT_FALSE(pad(ones({3}), {{int64_t{1} << 46, 0}}, mode).ok()) << mode;
}

TEST(Np, TrianglesOfExtremeDiagonals) {
  const Array a = ones({3, 2});
  for (const int64_t k : {INT64_MAX, INT64_MAX - 1, int64_t{3}}) {
    EXPECT_TRUE(array_equal(tril(a, k), a)) << k;
    EXPECT_TRUE(array_equal(triu(a, k), zeros({3, 2}))) << k;
    EXPECT_TRUE(array_equal(tril(a, -k - 1), zeros({3, 2}))) << k;
    EXPECT_TRUE(array_equal(triu(a, -k - 1), a)) << k;
  }
}

// The direction that I - 11^T / n lacks has a length of n^-1/2 along each axis.
TEST(Np, SvdCompletesSpreadDirections) {
  for (const int64_t n : {101, 128, 200}) {
    const Array spread = full({n, n}, 1.0 / static_cast<double>(n));
    for (const Array& a : {eye(n) - spread, spread}) {
      const linalg::Svd svd = linalg::svd(a);
      EXPECT_TRUE(allclose(matmul(svd.u.T(), svd.u), eye(n), 0, 1e-12)) << n;
      EXPECT_TRUE(allclose(matmul(svd.u * svd.s, svd.vh), a, 0, 1e-12)) << n;
    }
  }
}

TEST(Np, Operators) {
  const Array a = arange(4), b = array<int64_t>({3, 2, 1, 0});
  EXPECT_TRUE(array_equal(a + b, full({4}, 3)));
  EXPECT_TRUE(array_equal((a < b) | (a == 3), array(std::vector<bool>{true, true, false, true})));
  EXPECT_TRUE(array_equal(~(a >= b) & (a != 1), array(std::vector<bool>{true, false, false, false})));
  EXPECT_TRUE(array_equal(-a % 3, array<int64_t>({0, 2, 1, 0})));
  EXPECT_TRUE(allclose(1 / (a + 1), array<double>({1, 0.5, 1.0 / 3, 0.25})));
}

}  // namespace
}  // namespace tern::v1::np
