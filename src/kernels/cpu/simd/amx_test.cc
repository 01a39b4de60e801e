// Compares tiles in tile registers with plain sums. Tests emulated registers if the processor can emulate
// them, and its own registers if it has them.
#include "kernels/cpu/simd/amx.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/byte/byte_test_support.h"
#include "kernels/cpu/byte/byte_tile.h"
#include "kernels/cpu/gemm/tile.h"
#include "kernels/cpu/simd/bf16_test_support.h"

namespace tern::cpu {
namespace {

// Memory that ends where the next page must not be read.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    size_ = (bytes + page_ - 1) / page_ * page_ + page_;
    void* all = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(all, MAP_FAILED);
    start_ = static_cast<char*>(all);
    EXPECT_EQ(mprotect(start_ + size_ - page_, page_, PROT_NONE), 0);
    data_ = start_ + size_ - page_ - bytes;
  }
  Guarded(const Guarded&) = delete;
  ~Guarded() { munmap(start_, size_); }
  template <class T> T* As() const { return reinterpret_cast<T*>(data_); }

 private:
  size_t page_, size_ = 0;
  char *start_ = nullptr, *data_ = nullptr;
};

struct Block {
  int rows;
  int64_t columns, k, segments;
};
std::vector<Block> Blocks() {
  std::vector<Block> blocks;
  for (int64_t k = 0; k <= 50; ++k)
    blocks.push_back({static_cast<int>(1 + k * 7 % 32), 1 + k * 5 % 32, k, 1 + k % 3});
  for (int rows = 1; rows <= 32; ++rows) blocks.push_back({rows, rows % 2 ? 32 : 16, 37, 2});
  for (int64_t columns = 1; columns <= 32; ++columns) blocks.push_back({32, columns, 64, 1});
  return blocks;
}

std::string NameOf(const Block& b) {
  return std::to_string(b.rows) + " rows, " + std::to_string(b.columns) + " columns, " +
         std::to_string(b.segments) + " segments of " + std::to_string(b.k);
}

// The segments of a row of a are in reverse order in memory.
std::vector<int64_t> StartsOf(const Block& b, int64_t unit) {
  std::vector<int64_t> starts;
  for (int64_t i = b.segments; i-- > 0;) starts.push_back(i * b.k * unit);
  return starts;
}

class AmxTiles : public EachLevel {};
std::vector<int> AmxLevels() {
  std::vector<int> levels;
  AppendAmx(levels);
  return levels;
}
INSTANTIATE_TEST_SUITE_P(Simd, AmxTiles, testing::ValuesIn(AmxLevels()));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AmxTiles);

TEST_P(AmxTiles, BytesAreExact) {
  const ByteTileTable& table = ByteTileSimd();
  ASSERT_EQ(table.rows, 32);
  for (const Block& b : Blocks()) {
    const int64_t dwords = b.k * b.segments, row = 4 * dwords;
    const Guarded a(static_cast<size_t>(b.rows * row)), panel(static_cast<size_t>(table.PanelBytes(dwords)));
    const std::vector<uint8_t> left = RandomBytes(b.rows * row, 1),
                               right = RandomBytes(table.PanelBytes(dwords), 2);
    std::copy(left.begin(), left.end(), a.As<uint8_t>());
    std::copy(right.begin(), right.end(), panel.As<uint8_t>());
    const std::vector<int64_t> starts = StartsOf(b, 4);
    for (const EpilogueCase& e : Epilogues(b.rows, b.columns, 4 * dwords)) {
      std::vector<uint8_t> c(static_cast<size_t>(b.rows * b.columns * e.width()), 77);
      ByteTile t;
      t.a = a.As<uint8_t>(), t.a_row = row, t.b = panel.As<int8_t>(), t.k = b.k;
      t.segments = b.segments, t.starts = starts.data();
      t.c = c.data(), t.c_row = t.columns = b.columns;
      t.SetEpilogue(e.e, RoundsInRegisters(e.e, b.columns, 4 * dwords));
      t.residual = ResidualOf(e.e);
      table.run[b.rows](t);
      for (int64_t i = 0; i < b.rows * b.columns; ++i) {
        int64_t sum = 0;
        for (int64_t k = 0; k < row; ++k) {
          const int64_t segment = b.k ? k / (4 * b.k) : 0,
                        at = starts[static_cast<size_t>(segment)] + k - segment * 4 * b.k;
          sum += left[static_cast<size_t>(i / b.columns * row + at)] *
                 static_cast<int8_t>(right[static_cast<size_t>((k / 4 * 32 + i % b.columns) * 4 + k % 4)]);
        }
        ASSERT_EQ(e.At(c, i), e.Expected(sum, i / b.columns, i % b.columns))
            << NameOf(b) << ", " << e.name << " at " << i;
      }
    }
  }
}

TEST_P(AmxTiles, SumsOfBf16AreF32) {
  const TileTable& table = TileFor(Operands::kBf16);
  ASSERT_EQ(table.rows, 32);
  for (const Block& b : Blocks())
    for (bool few_rows : {false, true}) {
      const int64_t dwords = b.k * b.segments;
      const Guarded a(static_cast<size_t>(4 * b.rows * dwords)), panel(static_cast<size_t>(4 * 32 * dwords));
      const std::vector<uint16_t> left = ToBf16(Random(2 * b.rows * dwords, 1)),
                                  right = ToBf16(Random(64 * dwords, 2));
      std::copy(left.begin(), left.end(), a.As<uint16_t>());
      std::copy(right.begin(), right.end(), panel.As<uint16_t>());
      const std::vector<int64_t> starts = StartsOf(b, 1);
      const std::vector<float> bias = Random(b.columns, 3), residual = Random(b.rows * b.columns, 4);
      std::vector<float> c(static_cast<size_t>(b.rows * b.columns), 0.5f);
      Tile t;
      t.a = a.As<float>(), t.a_row = dwords, t.b = panel.As<float>(), t.k = b.k;
      t.segments = b.segments, t.starts = starts.data();
      t.c = c.data(), t.c_row = t.columns = b.columns, t.few_rows = few_rows;
      t.bias = bias.data(), t.residual = residual.data(), t.residual_row = b.columns, t.accumulate = true;
      table.run[b.rows](t);
      for (int64_t i = 0; i < b.rows * b.columns; ++i) {
        const int64_t row = i / b.columns, column = i % b.columns;
        double want = 0.5 + static_cast<double>(bias[static_cast<size_t>(column)]) +
                      static_cast<double>(residual[static_cast<size_t>(i)]);
        for (int64_t k = 0; k < 2 * dwords; ++k) {
          const int64_t segment = b.k ? k / (2 * b.k) : 0,
                        at = 2 * starts[static_cast<size_t>(segment)] + k - segment * 2 * b.k;
          want += static_cast<double>(BFloatToFloat(left[static_cast<size_t>(row * 2 * dwords + at)])) *
                  static_cast<double>(
                      BFloatToFloat(right[static_cast<size_t>((k / 2 * 32 + column) * 2 + k % 2)]));
        }
        ASSERT_NEAR(c[static_cast<size_t>(i)], want, 1e-4) << NameOf(b) << " at " << i;
      }
    }
}

// The result of a row does not depend on the number of rows that are multiplied together.
TEST_P(AmxTiles, RowsAreIndependent) {
  const TileTable& table = TileFor(Operands::kBf16);
  constexpr int64_t kDwords = 45;
  const std::vector<uint16_t> a = ToBf16(Random(2 * 32 * kDwords, 1)),
                              panel = ToBf16(Random(64 * kDwords, 2));
  const auto multiply = [&](int first, int rows) {
    std::vector<float> c(static_cast<size_t>(rows * 32));
    Tile t;
    t.a = AsFloats(a) + first * kDwords, t.a_row = kDwords, t.b = AsFloats(panel), t.k = kDwords;
    t.c = c.data(), t.c_row = t.columns = 32;
    table.run[rows](t);
    return c;
  };
  const std::vector<float> all = multiply(0, 32);
  for (int rows = 1; rows < 32; ++rows) {
    const std::vector<float> some = multiply(32 - rows, rows);
    EXPECT_EQ(0, std::memcmp(some.data(), all.data() + (32 - rows) * 32, some.size() * sizeof(float)))
        << rows;
  }
}

// Zero rows of a must not be multiplied by what is behind a panel.
TEST_P(AmxTiles, NanBehindAPanelIsNotRead) {
  const TileTable& table = TileFor(Operands::kBf16);
  constexpr int64_t kDwords = 19;
  std::vector<uint16_t> a(2 * 20 * kDwords, FloatToBFloat(1)), panel(64 * (kDwords + 32), FloatToBFloat(NAN));
  std::fill_n(panel.begin(), 64 * kDwords, FloatToBFloat(1));
  std::vector<float> c(20 * 32);
  Tile t;
  t.a = AsFloats(a), t.a_row = kDwords, t.b = AsFloats(panel), t.k = kDwords, t.c = c.data(),
  t.c_row = t.columns = 32;
  table.run[20](t);
  for (float v : c) ASSERT_EQ(v, 2 * kDwords);
}

// A configuration stays loaded until the end of the outermost scope.
TEST(Amx, ScopesReleaseTheRegisters) {
  if (!HasAmx()) GTEST_SKIP() << "this machine has no AMX";
  const LevelKeeper keeper;
  UseLevel(kAmxProducts);
  const std::vector<uint16_t> a(64 * 16), panel(64 * 16);
  std::vector<float> c(32 * 32);
  Tile t;
  t.a = AsFloats(a), t.a_row = 16, t.b = AsFloats(panel), t.k = 16, t.c = c.data(), t.c_row = t.columns = 32;
  const auto run = [&] { TileFor(Operands::kBf16).run[32](t); };
  run();
  EXPECT_EQ(ThisTileThread().shape, 0);
  {
    const TileScope outer;
    {
      const TileScope inner;
      run();
    }
    EXPECT_NE(ThisTileThread().shape, 0);
    run();
  }
  EXPECT_EQ(ThisTileThread().shape, 0);
}

TEST(Amx, ModesNeedTheirInstructions) {
  const LevelKeeper keeper;
  LimitSimd(BestSimd());
  LimitAmx(AmxMode::kOn);
  EXPECT_EQ(ActiveAmx(), HasAmx() ? AmxMode::kOn : AmxMode::kOff);
  LimitAmx(AmxMode::kEmulated);
  EXPECT_EQ(ActiveAmx(), CanEmulateAmx() && TERN_AMX_PRODUCTS ? AmxMode::kEmulated : AmxMode::kOff);
  LimitSimd(SimdLevel::kBase);
  EXPECT_EQ(ActiveAmx(), AmxMode::kOff);
}

// Kernels for bf16 and for 8 bits use AMX only if their other instructions are on.
TEST(Amx, FollowsTheSwitchesOfTheTypes) {
  if (!CanEmulateAmx() || ActiveSimd() != SimdLevel::kAvx512)
    GTEST_SKIP() << "this machine cannot emulate AMX";
  const LevelKeeper keeper;
  UseLevel(kEmulatedAmx);
  EXPECT_EQ(TileFor(Operands::kBf16).rows, 32);
  EXPECT_EQ(ByteTileSimd().rows, 32);
  EXPECT_NE(TileFor(Operands::kF32).rows, 32);
  LimitBf16Products(false), LimitVnni(false);
  EXPECT_NE(TileFor(Operands::kBf16).rows, 32);
  EXPECT_NE(ByteTileSimd().rows, 32);
}

}  // namespace
}  // namespace tern::cpu
