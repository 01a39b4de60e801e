// Tests which index tuples are taken as a box, and that boxes are scattered as tuples one by one.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "kernels/cpu/index/index.h"

namespace tern::cpu {
namespace {

struct Range {
  int64_t first, size, step;
};

// Returns the flat list of tuples of the box, in row-major order.
std::vector<int64_t> TuplesOfBox(const std::vector<Range>& ranges) {
  int64_t count = 1;
  for (const Range& r : ranges) count *= r.size;
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) {
    int64_t unit = count, rest = i;
    for (const Range& r : ranges) {
      unit /= r.size;
      out.push_back(r.first + rest / unit * r.step);
      rest %= unit;
    }
  }
  return out;
}

Tuples Over(const std::vector<int64_t>& x, const std::vector<int64_t>& indices, int64_t size) {
  Tuples t;
  t.indices = {indices.data(), true};
  t.size = size, t.count = static_cast<int64_t>(indices.size()) / size;
  t.per_batch = t.count;
  t.slice = 1;
  for (size_t i = static_cast<size_t>(size); i < x.size(); ++i) t.slice *= x[i];
  int64_t step = t.slice;
  for (size_t i = static_cast<size_t>(size); i-- > 0;) t.dims[i] = x[i], t.steps[i] = step, step *= x[i];
  return t;
}

// Scatters tuples one by one, in order.
std::vector<float> OneByOne(ScatterKind kind, const Tuples& t, const std::vector<float>& updates,
                            std::vector<float> y) {
  for (int64_t i = 0; i < t.count * t.slice; ++i) {
    float& to = y[static_cast<size_t>(t.OffsetOf(i / t.slice) + i % t.slice)];
    const float update = updates[static_cast<size_t>(i)];
    to = kind == ScatterKind::kNone ? update : kind == ScatterKind::kAdd ? to + update : to * update;
  }
  return y;
}

std::vector<float> Random(std::mt19937& random, size_t n) {
  std::vector<float> out(n);
  for (float& v : out) v = static_cast<float>(random() % 1000) / 100;
  return out;
}

void ExpectSame(const std::vector<int64_t>& dims, const Tuples& t, bool boxed, std::mt19937& random) {
  int64_t size = 1;
  for (int64_t d : dims) size *= d;
  const auto x = Random(random, static_cast<size_t>(size)),
             updates = Random(random, static_cast<size_t>(t.count * t.slice));
  StridedCopy box;
  ASSERT_EQ(FindBox(t, box), boxed);
  for (ScatterKind kind : {ScatterKind::kNone, ScatterKind::kAdd, ScatterKind::kMul}) {
    const auto want = OneByOne(kind, t, updates, x);
    auto y = x;
    ScatterTuples(kind, DType::kF32, t, updates.data(), y.data());
    EXPECT_EQ(y, want);
    for (int threads = 1; boxed && threads < 3; ++threads) {
      y = x;
      ScatterBox(kind, DType::kF32, box, updates.data(), y.data(), Workers(threads));
      EXPECT_EQ(y, want) << threads << " threads";
    }
  }
}

TEST(ScatterBox, EqualsTuplesOneByOne) {
  std::mt19937 random(1);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  for (int i = 0; i < 200; ++i) {
    std::vector<int64_t> dims;
    std::vector<Range> ranges;
    const int64_t rank = 1 + below(4), size = 1 + below(rank);
    for (int64_t a = 0; a < rank; ++a) {
      dims.push_back(1 + below(9));
      const int64_t first = below(dims.back()), step = 1 + below(3);
      if (a < size) ranges.push_back({first, 1 + below((dims.back() - first + step - 1) / step), step});
    }
    const auto indices = TuplesOfBox(ranges);
    SCOPED_TRACE(i);
    ExpectSame(dims, Over(dims, indices, size), true, random);
  }
  const std::vector<int64_t> large = {64, 3000};
  const auto indices = TuplesOfBox({{3, 60, 1}, {100, 2800, 1}});
  ExpectSame(large, Over(large, indices, 2), true, random);
}

TEST(ScatterBox, IsNotFoundInOtherTuples) {
  std::mt19937 random(2);
  const std::vector<int64_t> dims = {12, 2};
  for (const std::vector<int64_t>& indices : {std::vector<int64_t>{3, 3},
                                              {4, 3, 2},
                                              {1, 2, 3, 2, 3, 4},
                                              {1, 2, 4},
                                              {0, 1, 4, 5, 7, 8},
                                              {0, 5, 1, 6, 1, 6},
                                              {1, 2, 3, 5}})
    ExpectSame(dims, Over(dims, indices, 1), false, random);
  // The rows 0 to 3, 2 to 5 and 4 to 7 overlap.
  ExpectSame(dims, Over(dims, {0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7}, 1), false, random);
  // Columns before rows: the box is found although its innermost axis has the larger stride.
  ExpectSame(dims, Over(dims, {1, 4, 7, 2, 5, 8}, 1), true, random);
  StridedCopy box;
  const std::vector<int64_t> none;
  EXPECT_FALSE(FindBox(Over(dims, none, 1), box));
}

}  // namespace
}  // namespace tern::cpu
