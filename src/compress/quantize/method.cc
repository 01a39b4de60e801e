#include "compress/quantize/method.h"

#include <algorithm>
#include <cmath>

#include "base/status.h"

namespace tern::compress {

const std::vector<std::string>& MethodNames() {
  static const auto* names =
      new std::vector<std::string>{"minmax", "ema", "percentile", "mse", "kl", "admm", "eq"};
  return *names;
}

const char* NameOf(Method method) { return MethodNames()[static_cast<size_t>(method)].c_str(); }

std::optional<Method> ParseMethod(std::string_view name) {
  for (size_t i = 0; i < MethodNames().size(); ++i)
    if (MethodNames()[i] == name) return static_cast<Method>(i);
  return std::nullopt;
}

void Statistics::Merge(const Statistics& other) {
  if (!other.histogram.count()) return;
  average = histogram.count()
                ? Range{std::min(average.low, other.average.low), std::max(average.high, other.average.high)}
                : other.average;
  histogram.Merge(other.histogram);
}

double GridError::cosine() const {
  return signal == 0 ? 1 : rounded == 0 ? 0 : product / std::sqrt(signal * rounded);
}

double GridError::sqnr() const { return noise == 0 ? INFINITY : 10 * std::log10(signal / noise); }

GridError ErrorOf(const Grid& grid, const Histogram& histogram) {
  GridError error;
  histogram.ForEach([&](double v, double n) {
    const double rounded = grid.Round(v);
    error.signal += n * v * v;
    error.noise += n * (v - rounded) * (v - rounded);
    error.product += n * v * rounded;
    error.rounded += n * rounded * rounded;
  });
  return error;
}

Grid ChooseGrid(const Statistics& statistics, const MethodOptions& options) {
  const Histogram& h = statistics.histogram;
  TERN_CHECK(h.count() > 0);
  switch (options.method) {
    case Method::kMinMax:
      return GridOf(h.range(), options.kind);
    case Method::kEma:
      return GridOf(statistics.average, options.kind);
    case Method::kPercentile: {
      const double tail = 1 - options.percentile / 100;
      return GridOf({h.Quantile(tail), h.Quantile(1 - tail)}, options.kind);
    }
    case Method::kMse:
      return SearchMse(h, options.kind);
    case Method::kKl:
      return SearchKl(h, options.kind);
    case Method::kAdmm:
      return SearchAdmm(h, options.kind);
    case Method::kEq:
      return SearchCosine(h, options.kind);
  }
  return GridOf(h.range(), options.kind);
}

}  // namespace tern::compress
