// Measures the throughput of products with packed weights, relative to this machine's peak.
//
//   kernels_bench [MxNxK …] [--convs] [--bytes] [--threads N] [--rounds N]   (ninja -C build/release
//   kernels_bench)
//
// Large products are compared with the peak rate of multiply-adds, which is measured again before each round.
// Products of up to kFewRows rows are compared with the rate at which a simple loop reads the weights. The
// weights of such products are outside all caches. The program prints the best round of each shape. With
// --convs it measures convolutions.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/buffer.h"
#include "kernels/cpu/byte/byte_panels.h"
#include "kernels/cpu/conv/conv_bench.h"
#include "kernels/cpu/gemm/panels.h"
#include "kernels/cpu/nbits/nbits.h"
#include "kernels/cpu/peak/peak.h"
#include "kernels/cpu/quant/bytes_bench.h"

namespace tern::cpu {
namespace {

struct Shape {
  int64_t m, n, k;
};
// The shapes are cubes, layers of BERT and ViT, 1x1 convolutions of ResNet-50, and products of 1 to 8 rows.
const std::vector<Shape> kShapes = {{1024, 1024, 1024}, {512, 512, 512},  {256, 256, 256}, {128, 3072, 768},
                                    {128, 768, 3072},   {197, 2304, 768}, {3136, 256, 64}, {784, 128, 512},
                                    {196, 1024, 256},   {49, 2048, 512},  {1, 4096, 4096}, {2, 4096, 4096},
                                    {4, 4096, 4096},    {8, 4096, 4096},  {1, 1000, 2048}};
constexpr int64_t kFewRows = 8;
constexpr int64_t kAllWeights = int64_t{192} << 20;  // bytes, more than any cache holds
constexpr double kRoundSeconds = 0.05;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// kInt4: rows of f32 by weights of 4 bits with an f16 scale per 32 elements.
enum class Type : uint8_t { kF32, kBf16, kInt8, kInt4 };
constexpr const char* kTypeNames[] = {"f32", "bf16", "int8", "int4"};

class Bench {
 public:
  Bench(const Shape& s, Type type, int threads) : shape_(s), type_(type), workers_(threads) {
    const Operands operands = type == Type::kBf16 ? Operands::kBf16 : Operands::kF32;
    nbits_.layout.k = s.k, nbits_.layout.n = s.n;
    size_ = type == Type::kInt8   ? BytePackedSize(s.k, s.n) / 4
            : type == Type::kInt4 ? nbits_.layout.bytes() / 4
                                  : PanelsSize(s.k, s.n, operands);
    copies_ = s.m <= kFewRows ? std::max<int64_t>(1, kAllWeights / (size_ * 4)) : 1;
    panels_ = Floats(size_ * copies_), a_ = Floats(s.m * s.k), c_ = Floats(s.m * s.n);
    std::fill(Start(a_), Start(a_) + s.m * s.k, 0.5f);
    if (type == Type::kInt8) {
      PrepareBytes(threads);
      return;
    }
    if (type == Type::kInt4) {
      PrepareNBits(threads);
      return;
    }
    const std::vector<float> b(static_cast<size_t>(s.k * s.n), 0.25f);
    for (int64_t i = 0; i < copies_; ++i)
      PackPanels({b.data(), s.n, 1, 1.0f}, s.k, s.n, Start(panels_) + i * size_, workers_, operands);
    p_.operands = operands;
    p_.m = s.m, p_.n = s.n, p_.k = s.k;
    p_.a = Start(a_), p_.a_row = s.k, p_.c = Start(c_), p_.c_row = s.n;
    scratch_ = Buffer::Allocate(PanelScratch(p_, threads) + 64);
  }

  // Runs products for kRoundSeconds and records the shortest time of one product.
  void Round() {
    const double end = Now() + kRoundSeconds;
    for (double from = Now(); from < end;) {
      p_.panels = Start(panels_) + next_ * size_;
      bytes_.panels = BytePanels(reinterpret_cast<const int8_t*>(p_.panels), shape_.n);
      nbits_.packed = reinterpret_cast<const uint8_t*>(p_.panels);
      next_ = (next_ + 1) % copies_;
      if (type_ == Type::kInt4)
        MultiplyNBits(nbits_, scratch_.data(), workers_);
      else if (type_ == Type::kInt8)
        MultiplyBytes(bytes_, scratch_.data(), workers_);
      else
        MultiplyPanels(p_, scratch_.data(), workers_);
      const double to = Now();
      best_ = std::min(best_, to - from);
      total_ += to - from, ++runs_;
      from = to;
    }
  }
  // Reads all weights once and returns the bytes per second.
  double Read() {
    const auto* values = reinterpret_cast<const uint64_t*>(panels_.data());
    uint64_t sum = 0;
    const double from = Now();
    for (int64_t i = 0; i < size_ * copies_ / 2; ++i) sum += values[i];
    const double seconds = Now() - from;
    c_.data()[0] = static_cast<std::byte>(sum);  // keeps the compiler from removing the loads
    return static_cast<double>(size_ * copies_) * 4 / seconds;
  }
  double flops() const {
    return 2.0 * static_cast<double>(shape_.m * shape_.n) * static_cast<double>(shape_.k) / best_;
  }
  // Uses the mean time instead of the best time. The best run may have read a copy of the weights from a
  // cache.
  double bytes() const { return static_cast<double>(size_) * 4 * static_cast<double>(runs_) / total_; }
  double ms() const { return best_ * 1e3; }

 private:
  // Allocates as sessions do: on large pages.
  static Buffer Floats(int64_t count) { return Buffer::Allocate(static_cast<size_t>(count) * sizeof(float)); }
  static float* Start(const Buffer& b) { return reinterpret_cast<float*>(b.data()); }

  // Prepares products of u8 and i8 with results of 8 bits.
  void PrepareBytes(int threads) {
    const Shape& s = shape_;
    const std::vector<int8_t> b(static_cast<size_t>(s.k * s.n), 3);
    scales_.assign(static_cast<size_t>(s.n), 1e-3f);
    for (int64_t i = 0; i < copies_; ++i)
      PackBytes({b.data()}, s.n, 1, s.k, s.n, reinterpret_cast<int8_t*>(Start(panels_) + i * size_),
                workers_);
    bytes_.m = s.m, bytes_.n = s.n, bytes_.k = s.k;
    bytes_.a = a_.data(), bytes_.a_row = s.k, bytes_.c = c_.data(), bytes_.c_row = s.n;
    bytes_.epilogue.scale = scales_.data();
    bytes_.epilogue.bias = WeightSums(reinterpret_cast<const int8_t*>(panels_.data()));
    scratch_ = Buffer::Allocate(ByteGemmScratch(bytes_, threads) + 64);
  }

  void PrepareNBits(int threads) {
    const Shape& s = shape_;
    const std::vector<uint8_t> b(static_cast<size_t>((s.k * s.n + 1) / 2), 0x37);
    const uint16_t one = 0x3c00;
    NBitsSource source;
    source.q = b.data(), source.is_signed = true, source.k_stride = s.n, source.n_stride = 1;
    source.scale = &one, source.scale_type = DType::kF16;
    for (int64_t i = 0; i < copies_; ++i)
      PackNBits(nbits_.layout, source, reinterpret_cast<uint8_t*>(Start(panels_) + i * size_), workers_);
    nbits_.m = s.m, nbits_.a = Start(a_), nbits_.c = Start(c_);
    scratch_ = Buffer::Allocate(NBitsScratch(nbits_, threads) + 64);
  }

  Shape shape_;
  Type type_;
  Workers workers_;
  PanelProduct p_;
  ByteGemm bytes_;
  NBitsProduct nbits_;
  std::vector<float> scales_;
  Buffer panels_, a_, c_, scratch_;
  int64_t size_ = 0, copies_ = 1, next_ = 0, runs_ = 0;
  double best_ = 1e9, total_ = 0;
};

void Print(const Shape& s, Type type, int threads, int rounds) {
  const Workers workers(threads);
  Bench bench(s, type, threads);
  const bool few_rows = s.m <= kFewRows;
  double limit = 0;
  for (int i = 0; i < rounds; ++i) {
    const PeakRate peak = MeasurePeak(workers);
    limit = std::max(limit, few_rows                                    ? bench.Read() / 1e9
                            : type == Type::kF32 || type == Type::kInt4 ? peak.f32
                            : type == Type::kBf16                       ? peak.best_bf16()
                                                                        : peak.best_int8());
    bench.Round();
  }
  const double reached = (few_rows ? bench.bytes() : bench.flops()) / 1e9;
  std::printf("%5lldx%lldx%lld\t%s\t%.3f ms\t%.1f %s", static_cast<long long>(s.m),
              static_cast<long long>(s.n), static_cast<long long>(s.k), kTypeNames[static_cast<int>(type)],
              bench.ms(), reached,
              few_rows              ? "GB/s"
              : type == Type::kInt8 ? "GOP/s"
                                    : "GFLOP/s");
  if (limit > 0) std::printf("\t%.1f %% of %.1f", 100 * reached / limit, limit);
  std::printf("\n");
  std::fflush(stdout);
}

bool ShapeOf(const char* text, Shape& s) {
  long long m = 0, n = 0, k = 0;
  if (std::sscanf(text, "%lldx%lldx%lld", &m, &n, &k) != 3) return false;
  s = {m, n, k};
  return std::min({m, n, k}) > 0 && std::max({m, n, k}) <= 1 << 16;
}

}  // namespace
}  // namespace tern::cpu

int main(int count, char** args) {
  using namespace tern::cpu;
  std::vector<Shape> shapes;
  int threads = 1, rounds = 5;
  bool convs = false, bytes = false;
  for (int i = 1; i < count; ++i) {
    Shape s{};
    if (!std::strcmp(args[i], "--threads") && i + 1 < count)
      threads = std::clamp(std::atoi(args[++i]), 1, 64);
    else if (!std::strcmp(args[i], "--rounds") && i + 1 < count)
      rounds = std::clamp(std::atoi(args[++i]), 1, 1000);
    else if (!std::strcmp(args[i], "--convs"))
      convs = true;
    else if (!std::strcmp(args[i], "--bytes"))
      bytes = true;
    else if (ShapeOf(args[i], s))
      shapes.push_back(s);
    else
      return std::fprintf(stderr, "usage: %s [MxNxK …] [--convs] [--bytes] [--threads N] [--rounds N]\n",
                          args[0]),
             2;
  }
  if (convs) PrintConvs(threads, rounds);
  if (bytes) PrintBytes(threads, rounds);
  for (const Shape& s : shapes.empty() && !convs && !bytes ? kShapes : shapes)
    for (Type type : {Type::kF32, Type::kBf16, Type::kInt8, Type::kInt4}) Print(s, type, threads, rounds);
  return 0;
}
