// Estimates the times of kernels on the CPU.
#include "runtime/cost/cost_model.h"

#include <algorithm>
#include <string_view>

#include "base/status.h"
#include "base/strings.h"
#include "kernels/cpu/simd/active_isa.h"

namespace tern {
namespace {

// Nanoseconds per multiply-add (product), per byte of weights, per byte moved, per element transformed, and
// per run (start).
struct RatesRow {
  const char* algorithm;
  const char* isa;
  double product, weight, moved, transformed, start;
};

constexpr RatesRow kRates[] = {
#define TERN_RATES(algorithm, isa, product, weight, moved, transformed, start) \
  {#algorithm, #isa, product, weight, moved, transformed, start},
#include "runtime/cost/cost_rates.inc"
#undef TERN_RATES
};

const RatesRow& RatesOf(std::string_view algorithm) {
  std::string_view isa = cpu::ActiveIsa();
  if (isa == "sse4") isa = "base";  // SSE4 and the baseline have the same vector width
  for (const RatesRow& r : kRates)
    if (r.algorithm == algorithm && r.isa == isa) return r;
  TERN_CHECK(false, "no rates for algorithm '", algorithm, "' with ", isa);
}

class CpuRatesOfIsa : public Rates {
 public:
  double Microseconds(const Work& w) const override {
    constexpr double kCache = 16 << 20;  // weights of at most this many bytes stay in a cache
    constexpr double kMiss = 2;          // factor for the load time of larger weights
    const RatesRow& r = RatesOf(w.algorithm);
    const double weights = w.weights * r.weight * (w.weights > kCache ? kMiss : 1);
    // Loading weights overlaps with multiply-adds, so only the longer of the two times counts.
    return 1e-3 * (std::max(w.products * r.product, weights) + w.moved * r.moved +
                   w.transformed * r.transformed + r.start);
  }
};

}  // namespace

std::vector<std::pair<std::string, std::string>> RatedAlgorithms() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const RatesRow& r : kRates) out.emplace_back(r.algorithm, r.isa);
  return out;
}

double CpuProductNanoseconds() { return RatesOf("direct").product; }

const Rates& CpuRates() {
  static const CpuRatesOfIsa* rates = new CpuRatesOfIsa();
  return *rates;
}

}  // namespace tern
