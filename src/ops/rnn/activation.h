// The activation functions of recurrent layers.
#pragma once
#include <string>

#include "base/status.h"

namespace tern {

// An activation function. The names are tanh, sigmoid, relu, affine, leaky_relu, thresholded_relu,
// scaled_tanh, hard_sigmoid, elu, softsign and softplus.
struct RnnActivation {
  double (*function)(double x, double alpha, double beta) = nullptr;
  double alpha = 0, beta = 0;  // defaults, which the layer's attributes override
  bool has_alpha = false, has_beta = false;
  double operator()(double x) const { return function(x, alpha, beta); }
};

Result<RnnActivation> FindRnnActivation(const std::string& name);

}  // namespace tern
