// The functions of Activation and Gelu, shared with ops that have an `activation` attribute.
#pragma once
#include <vector>

#include "core/elementwise_kind.h"

namespace tern {

const std::vector<const char*>& ActivationNames();  // in the order of ActivationKind
double ActivationValue(ActivationKind kind, double alpha, double beta, double x);
double GeluValue(bool by_tanh, double x);

}  // namespace tern
