// Recognizes means, variances and standard deviations for the rules that recompose normalisations.
#pragma once
#include <optional>
#include <vector>

#include "passes/rewrite/rewrite.h"

namespace tern {

// Describes a value that is the mean of x over constant axes. The value has dims of 1 for these axes, because
// of keep_dims or because of a view after the mean.
struct Mean {
  Value* x = nullptr;
  std::vector<int64_t> axes;  // not negative, in ascending order

  bool operator==(const Mean& other) const { return x == other.x && axes == other.axes; }
};

std::optional<Mean> MeanOf(Value* v);
// Matches the mean of the squares of x. v and the squares must have no other reader.
std::optional<Mean> MeanSquareOf(Value* v);
// Matches mean((x - mean(x))^2) and mean(x * x) - mean(x)^2. The second form may be clamped at 0. v must have
// no other reader.
std::optional<Mean> VarianceOf(Value* v);
// If v is x minus its mean over these axes, returns x. Otherwise returns null.
Value* CentredOf(Value* v, const std::vector<int64_t>& axes);

// UnderRoot returns x if v = sqrt(x), and UnderInverseRoot returns x if v = 1 / sqrt(x). Otherwise they
// return null. v may have several readers. A value between x and v must have no other reader.
Value* UnderRoot(Value* v);
Value* UnderInverseRoot(Value* v);

// Describes v = variance + epsilon, where v has one reader.
struct Stabilised {
  Value* variance = nullptr;
  double epsilon = 0;
};
std::optional<Stabilised> StabilisedOf(Value* v);

// True if `axes` are the last axes of a tensor of this rank.
bool AreLastAxes(const std::vector<int64_t>& axes, int rank);

// Emits a LayerNorm or RmsNorm of x. If `axes` are not the last axes, transposes them to the end before the
// norm, and back after it. The rank of x must be known.
Value* EmitNorm(Rewrite& r, const char* op, Value* x, const std::vector<int64_t>& axes, double epsilon);

}  // namespace tern
