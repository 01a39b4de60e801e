// Estimates of how long kernels take.
#include "runtime/cost_model.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "kernels/cpu/simd/active_isa.h"
#include "runtime/kernel.h"

namespace tern {
namespace {

// Nanoseconds per product, byte of weights, byte moved, element transformed; and per run.
struct Rates {
  const char* algorithm;
  const char* isa;
  double product, weight, moved, transformed, start;
};

constexpr Rates kRates[] = {
#define TERN_RATES(algorithm, isa, product, weight, moved, transformed, start) \
  {#algorithm, #isa, product, weight, moved, transformed, start},
#include "runtime/cost_rates.inc"
#undef TERN_RATES
};

const Rates& RatesOf(std::string_view algorithm) {
  std::string_view isa = cpu::ActiveIsa();
  if (isa == "sse4") isa = "base";  // the same vectors
  for (const Rates& r : kRates)
    if (r.algorithm == algorithm && r.isa == isa) return r;
  TERN_CHECK(false, "no rates for algorithm '", algorithm, "' with ", isa);
}

double BytesOf(const std::vector<TensorInfo>& tensors) {
  double bytes = 0;
  for (const TensorInfo& t : tensors)
    if (t.dtype != DType::kInvalid)
      bytes += static_cast<double>(BitWidth(t.dtype)) / 8 * static_cast<double>(CountOf(t.dims));
  return bytes;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> RatedAlgorithms() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Rates& r : kRates) out.emplace_back(r.algorithm, r.isa);
  return out;
}

double ProductNanoseconds() { return RatesOf("direct").product; }

double Microseconds(const Work& w) {
  constexpr double kNear = 16 << 20, kFar = 2;  // bytes that stay in a cache; times as long beyond
  const Rates& r = RatesOf(w.algorithm);
  const double weights = w.weights * r.weight * (w.weights > kNear ? kFar : 1);
  // Weights arrive while products are computed: what takes longer decides.
  return 1e-3 * (std::max(w.products * r.product, weights) + w.moved * r.moved +
                 w.transformed * r.transformed + r.start);
}

double EstimatedMicroseconds(const KernelEntry& entry, const KernelQuery& query) {
  if (entry.work_of) {
    double sum = 0;
    for (const Work& work : entry.work_of(query)) sum += Microseconds(work);
    return sum;
  }
  if (entry.cost_of) return entry.cost_of(query);
  Work move;
  move.moved = BytesOf(query.inputs) + BytesOf(query.outputs);
  return entry.cost * Microseconds(move);
}

}  // namespace tern
