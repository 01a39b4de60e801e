// Calibration methods: each chooses the range that a grid covers from the values that occurred.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compress/quantize/histogram.h"

namespace tern::compress {

enum class Method : uint8_t {
  kMinMax,      // all values that occurred
  kEma,         // moving averages of the minimum and maximum of each sample
  kPercentile,  // all but a share of the values at each end
  kMse,         // least mean squared error
  kKl,          // least Kullback-Leibler divergence of the distributions
  kAdmm,        // least squared error, minimized over the scale and the integers in turn
  kEq,          // largest cosine similarity
};
const char* NameOf(Method method);
std::optional<Method> ParseMethod(std::string_view name);
const std::vector<std::string>& MethodNames();

// What is known about the values of one tensor, or of tensors that share a grid.
struct Statistics {
  Histogram histogram;
  Range average;  // moving averages of the minimum and maximum of a sample

  void Merge(const Statistics& other);
};

struct MethodOptions {
  Method method = Method::kMse;
  double percentile = 99.99;  // above 50; kPercentile leaves out 100 - percentile percent at each end
  GridKind kind;
};

// The histogram must contain a finite value. The grid covers the chosen range and 0.
Grid ChooseGrid(const Statistics& statistics, const MethodOptions& options);

// Errors of a grid, weighted by how often the values occur.
struct GridError {
  double signal = 0, noise = 0;     // sums of v^2 and (v - Round(v))^2
  double product = 0, rounded = 0;  // sums of v * Round(v) and Round(v)^2
  double cosine() const;
  double sqnr() const;  // signal-to-quantization-noise ratio in dB; infinite without noise
};
GridError ErrorOf(const Grid& grid, const Histogram& histogram);

// The searches that ChooseGrid calls.
Grid SearchMse(const Histogram& histogram, GridKind kind);
Grid SearchCosine(const Histogram& histogram, GridKind kind);
Grid SearchAdmm(const Histogram& histogram, GridKind kind);
Grid SearchKl(const Histogram& histogram, GridKind kind);

}  // namespace tern::compress
