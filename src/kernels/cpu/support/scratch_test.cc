// A session may run with fewer threads than its plan was made for, and their jobs may be larger. So a plan's
// scratch must suffice for every smaller number of threads.
#include <algorithm>

#include "kernels/cpu/attention/attention.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/nbits/dynamic.h"
#include "kernels/cpu/rnn/rnn.h"
#include "kernels/cpu/simd/level_test_support.h"

namespace tern::cpu {
namespace {

constexpr int kMaxThreads = 20;

class ScratchLevels : public EachLevel {
 protected:
  template <class F> static void ExpectNotLess(const F& scratch_of) {
    size_t most = 0;
    for (int threads = 1; threads <= kMaxThreads; ++threads) {
      const size_t bytes = scratch_of(threads);
      EXPECT_GE(bytes, most) << threads << " threads";
      most = std::max(most, bytes);
    }
  }
};

TEST_P(ScratchLevels, BatchedProducts) {
  for (int64_t count : {1, 2, 4, 7, 16}) {
    GemmParams p;
    p.m = 256, p.n = 256, p.k = 300, p.c_row = 256, p.count = count;
    p.a = {nullptr, DType::kF32, 300, 1};
    p.b = {nullptr, DType::kF32, 256, 1};
    ExpectNotLess([&](int threads) { return GemmScratch(p, threads); });
  }
}

TEST_P(ScratchLevels, DynamicProducts) {
  for (int64_t n : {45, 3072, 4096}) {
    DynamicProduct p;
    p.m = 192, p.n = n, p.k = 144;
    ExpectNotLess([&](int threads) { return DynamicScratch(p, threads); });
  }
}

TEST_P(ScratchLevels, AttentionOfOneQuery) {
  for (int64_t heads : {1, 7, 8, 12}) {
    AttentionShape s;
    s.heads = s.kv_heads = heads, s.queries = 1, s.keys = 1000, s.size = s.value_size = 64;
    ExpectNotLess([&](int threads) { return AttentionScratch(s, threads); });
  }
}

TEST_P(ScratchLevels, RecurrentLayers) {
  for (Operands operands : {Operands::kF32, Operands::kBf16})
    for (int64_t hidden : {128, 480}) {
      RnnShape s;
      s.operands = operands;
      s.length = 100, s.batch = 1, s.features = 512, s.hidden = hidden;
      ExpectNotLess([&](int threads) { return RnnScratch(s, threads); });
    }
}

INSTANTIATE_TEST_SUITE_P(Simd, ScratchLevels, testing::ValuesIn(LevelsAndBf16Here()));

}  // namespace
}  // namespace tern::cpu
