#include "compress/weights/awq.h"

#include <algorithm>
#include <cmath>

namespace tern::compress {
namespace {

constexpr int kExponents = 10;        // exponents 1/10, 2/10, … 1 are tried
constexpr int64_t kMeasured = 64;     // outputs of a layer whose error is measured
constexpr double kWorthwhile = 0.98;  // factors must reduce the error at least to this share

// Returns about kMeasured rows of the layer's weights.
std::vector<float> SomeRows(const AwqLayer& layer, int64_t inputs) {
  const int64_t step = std::max<int64_t>(1, layer.outputs / kMeasured);
  std::vector<float> rows;
  for (int64_t o = 0; o < layer.outputs; o += step) {
    const auto first = layer.weights->begin() + o * inputs;
    rows.insert(rows.end(), first, first + inputs);
  }
  return rows;
}

// Returns the error of the result of rows of weights that are rounded with these factors.
double ErrorWith(const std::vector<float>& rows, const std::vector<float>& factors, const BlockFormat& format,
                 const Hessian& h, const Workers& workers) {
  std::vector<float> importance = h.Diagonal();
  for (size_t i = 0; i < importance.size(); ++i) importance[i] /= factors[i] * factors[i];
  const auto count = static_cast<int64_t>(rows.size()) / h.inputs;
  const BlockMatrix m = RoundToNearest(Multiplied(rows, factors), count, format, importance.data(), workers);
  std::vector<double> errors(static_cast<size_t>(count));
  workers.ParallelFor(count, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> e(static_cast<size_t>(h.inputs));
    for (int64_t o = begin; o < end; ++o) {
      for (int64_t i = 0; i < h.inputs; ++i)
        e[static_cast<size_t>(i)] =
            m.At(o, i) / factors[static_cast<size_t>(i)] - rows[static_cast<size_t>(o * h.inputs + i)];
      errors[static_cast<size_t>(o)] = h.ErrorOf(e.data());
    }
  });
  double sum = 0;
  for (double e : errors) sum += e;
  return sum;
}

// Returns magnitude^exponent of each input, divided by the geometric mean of the largest and the smallest.
std::vector<float> PowersOf(const std::vector<float>& squares, double exponent) {
  std::vector<float> factors;
  for (float s : squares) factors.push_back(static_cast<float>(std::pow(std::max(s, 1e-8f), exponent / 2)));
  const auto [low, high] = std::minmax_element(factors.begin(), factors.end());
  const float middle = std::sqrt(*low * *high);
  for (float& f : factors) f /= middle;
  return factors;
}

}  // namespace

std::vector<float> Multiplied(std::vector<float> weights, const std::vector<float>& factors) {
  for (size_t i = 0; i < weights.size(); ++i) weights[i] *= factors[i % factors.size()];
  return weights;
}

std::vector<float> AwqFactors(const std::vector<AwqLayer>& layers, const BlockFormat& format,
                              const Hessian& hessian, const Workers& workers) {
  const std::vector<float> squares = hessian.Diagonal(), ones(squares.size(), 1);
  std::vector<float> rows;
  for (const AwqLayer& layer : layers) {
    const std::vector<float> some = SomeRows(layer, hessian.inputs);
    rows.insert(rows.end(), some.begin(), some.end());
  }
  double least = kWorthwhile * ErrorWith(rows, ones, format, hessian, workers);
  std::vector<float> best;
  for (int i = 1; i <= kExponents; ++i) {
    std::vector<float> factors = PowersOf(squares, static_cast<double>(i) / kExponents);
    const double error = ErrorWith(rows, factors, format, hessian, workers);
    if (error < least) best = std::move(factors), least = error;
  }
  return best;
}

}  // namespace tern::compress
