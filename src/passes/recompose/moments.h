// Means, variances and their roots as graphs spell them out; for the rules that recompose normalisations.
#pragma once
#include <optional>
#include <vector>

#include "passes/rewrite/rewrite.h"

namespace tern {

// What a value is a mean of, over constant axes that are kept, or dropped and put back by a view.
struct Mean {
  Value* x = nullptr;
  std::vector<int64_t> axes;  // counted from the front, ascending

  bool operator==(const Mean& other) const { return x == other.x && axes == other.axes; }
};

std::optional<Mean> MeanOf(Value* v);
// v is the mean of the squares of x; nobody else reads what is in between.
std::optional<Mean> MeanSquareOf(Value* v);
// v is the variance of x: the mean of the squared differences from its mean, or mean(x * x) - mean(x)^2,
// which may be kept from falling below zero. Nobody else reads the variance.
std::optional<Mean> VarianceOf(Value* v);
// v is x minus its mean over these axes: returns x, or null.
Value* CentredOf(Value* v, const std::vector<int64_t>& axes);

// What v is the square root of, or one over the square root of; null where it is not. Readers of v itself are
// not looked at; what lies between has no other reader.
Value* UnderRoot(Value* v);
Value* UnderInverseRoot(Value* v);

// v = variance + epsilon, read once.
struct Stabilised {
  Value* variance = nullptr;
  double epsilon = 0;
};
std::optional<Stabilised> StabilisedOf(Value* v);

// The axes are all from the first of them to the end.
bool AreLastAxes(const std::vector<int64_t>& axes, int rank);

// LayerNorm or RmsNorm of x. Axes that are not the last ones are moved to the end, and back after it. The
// rank of x must be known.
Value* EmitNorm(Rewrite& r, const char* op, Value* x, const std::vector<int64_t>& axes, double epsilon);

}  // namespace tern
