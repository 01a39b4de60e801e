// Rounds weights up or down so that the results of a layer, not its weights, change least (the objective of
// AdaRound, Nagel et al., 2020).
#pragma once
#include "compress/quantize/moments.h"
#include "compress/quantize/weights.h"

namespace tern::compress {

// Changes the integers of `made`, which are `real` rounded to nearest. Minimizes eᵀ C e for each output
// channel, where e are the errors of its weights and C is the covariance of the layer's operand. The method
// is coordinate descent in at most 20 sweeps: a weight moves to its other neighbour if that decreases the
// error. `noise` is the variance of the rounding errors of the operand.
void RoundAdaptively(const WeightRows& real, const Moments& moments, double noise, const Workers& workers,
                     IntegerWeights& made);

// Returns the mean error of each output channel that the rounded weights cause. Subtracting it from the bias
// corrects it.
std::vector<double> MeanErrors(const WeightRows& real, const Moments& moments, const IntegerWeights& made);

// Returns the mean squared error of the results, over all output channels, apart from the mean errors.
// Estimates it from Moments::Covariance without noise.
double ResultError(const WeightRows& real, const Moments& moments, const IntegerWeights& made);

}  // namespace tern::compress
