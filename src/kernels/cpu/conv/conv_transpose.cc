#include <algorithm>

#include "kernels/cpu/conv/col2im.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

// Maximum number of elements that one matrix product computes before col2im. If the product of one tap and
// one output channel is larger, it is computed as a whole nevertheless.
constexpr int64_t kMaxColumns = 1 << 20;

}  // namespace

ConvTransposeF32::ConvTransposeF32(const ConvShape& given) : shape_(given) {
  if (given.group_channels() == 0)
    shape_.kernel = {1, 1, 1};  // the sum over channels is empty, so the taps do not matter
  const ConvShape& shape = shape_;
  const int64_t per_map = std::max<int64_t>(1, shape.taps() * shape.input_size());
  maps_at_once_ = std::clamp<int64_t>(kMaxColumns / per_map, 1, std::max<int64_t>(1, shape.group_maps()));
  taps_at_once_ = std::max<int64_t>(1, shape.taps());
  if (maps_at_once_ == 1)
    taps_at_once_ =
        std::clamp<int64_t>(kMaxColumns / std::max<int64_t>(1, shape.input_size()), 1, taps_at_once_);
}

GemmParams ConvTransposeF32::Params(int64_t maps, int64_t taps) const {
  GemmParams p;
  p.m = maps * taps, p.n = shape_.input_size(), p.k = shape_.group_channels();
  p.a = {nullptr, DType::kF32, 1, shape_.group_maps() * shape_.taps()};
  p.b = {nullptr, DType::kF32, p.n, 1};
  p.c_row = p.n;
  return p;
}

size_t ConvTransposeF32::Scratch(int threads) const {
  size_t product = GemmScratch(Params(maps_at_once_, taps_at_once_), threads);
  if (const int64_t last_maps = shape_.group_maps() % maps_at_once_)
    product = std::max(product, GemmScratch(Params(last_maps, taps_at_once_), threads));
  if (const int64_t last_taps = shape_.taps() % taps_at_once_)
    product = std::max(product, GemmScratch(Params(maps_at_once_, last_taps), threads));
  return Aligned(static_cast<size_t>(ColumnsSize()) * sizeof(float)) + product;
}

void ConvTransposeF32::AddToPlanes(const float* columns, const Planes& planes, const Epilogue* epilogue,
                                   float* y, const Workers& workers) const {
  const int64_t taps = planes.tap1 - planes.tap0, size = shape_.output_size(),
                work = std::max<int64_t>(1, taps * shape_.input_size());
  if (planes.tap1 < shape_.taps()) epilogue = nullptr;  // the epilogue is applied after the last taps
  workers.ParallelFor(planes.maps, std::max<int64_t>(1, 32768 / work), [&](int64_t begin, int64_t end) {
    EpilogueRun run(epilogue, y, (planes.first + begin) * size);
    for (int64_t m = begin; m < end; ++m) {
      const int64_t at = (planes.first + m) * size;
      if (planes.tap0 == 0) std::fill(y + at, y + at + size, planes.bias ? planes.bias[m] : 0.f);
      AddColumns(shape_, planes.tap0, planes.tap1, columns + m * taps * shape_.input_size(), y + at);
      run.Reach(at + size);
    }
    run.Finish((planes.first + end) * size);
  });
}

void ConvTransposeF32::Run(const float* x, const float* w, const float* bias, const Epilogue* epilogue,
                           float* y, void* scratch, const Workers& workers) const {
  const int64_t maps = shape_.group_maps(), channels = shape_.group_channels(), taps = shape_.taps();
  auto* columns = static_cast<float*>(scratch);
  void* gemm_scratch =
      static_cast<char*>(scratch) + Aligned(static_cast<size_t>(ColumnsSize()) * sizeof(float));
  for (int64_t i = 0; i < shape_.batch * shape_.group; ++i)
    for (int64_t m = 0; m < maps; m += maps_at_once_)
      for (int64_t tap = 0; tap < taps; tap += taps_at_once_) {
        const int64_t map_count = std::min(maps_at_once_, maps - m),
                      tap_count = std::min(taps_at_once_, taps - tap), group = i % shape_.group;
        GemmParams p = Params(map_count, tap_count);
        p.a.data = w + (group * channels * maps + m) * taps + tap;
        p.b.data = x + i * channels * shape_.input_size();
        p.c = columns;
        Gemm(p, gemm_scratch, workers);
        AddToPlanes(columns,
                    {i * maps + m, map_count, bias ? bias + group * maps + m : nullptr, tap, tap + tap_count},
                    epilogue, y, workers);
      }
}

}  // namespace tern::cpu
