#include "ops/rnn/activation.h"

#include <algorithm>
#include <cmath>

namespace tern {
namespace {

struct Row {
  const char* name;
  RnnActivation activation;
};

const Row kRows[] = {
    {"tanh", {[](double x, double, double) { return std::tanh(x); }}},
    {"sigmoid", {[](double x, double, double) { return 1 / (1 + std::exp(-x)); }}},
    {"relu", {[](double x, double, double) { return x < 0 ? 0 : x; }}},
    {"affine", {[](double x, double a, double b) { return a * x + b; }, 1, 0, true, true}},
    {"leaky_relu", {[](double x, double a, double) { return x >= 0 ? x : a * x; }, 0.01f, 0, true, false}},
    {"thresholded_relu", {[](double x, double a, double) { return x >= a ? x : 0; }, 1, 0, true, false}},
    {"scaled_tanh", {[](double x, double a, double b) { return a * std::tanh(b * x); }, 1, 1, true, true}},
    {"hard_sigmoid",
     {[](double x, double a, double b) { return std::min(std::max(a * x + b, 0.0), 1.0); }, 0.2f, 0.5, true,
      true}},
    {"elu", {[](double x, double a, double) { return x >= 0 ? x : a * std::expm1(x); }, 1, 0, true, false}},
    {"softsign", {[](double x, double, double) { return x / (1 + std::fabs(x)); }}},
    {"softplus", {[](double x, double, double) { return x > 30 ? x : std::log1p(std::exp(x)); }}},
};

}  // namespace

Result<RnnActivation> FindRnnActivation(const std::string& name) {
  for (const Row& row : kRows)
    if (name == row.name) return row.activation;
  return InvalidModel("unknown recurrent activation '", name, "'");
}

}  // namespace tern
