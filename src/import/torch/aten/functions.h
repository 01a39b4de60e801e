// Compositions that several converters use.
#pragma once
#include "import/torch/aten/promote.h"

namespace tern::torch {

Value* Trunc(Builder& b, Value* x);                  // floats, towards zero
Value* FloorDivide(Builder& b, Value* x, Value* y);  // rounds towards minus infinity
Status MultiplyComplex(AtenNode& n);                 // aten::mul with a complex operand
Status AbsComplex(AtenNode& n);                      // aten::abs of a complex tensor
// Reshapes x. A size of -1 is inferred; other sizes may be computed by the graph.
Value* ReshapeTo(Builder& b, Value* x, const std::vector<Arg>& sizes);
// The sizes of all dims of x. The rank must be known.
std::vector<Arg> SizesOf(Builder& b, Value* x);
// Moves axis `from` to position `to`.
std::vector<int64_t> MovedPerm(int rank, int64_t from, int64_t to);
Value* MeanOf(Builder& b, Value* x, const std::vector<int64_t>& axes, bool keep);
// The variance along axes, divided by max(count - correction, 0); also returns the mean, with kept dims.
struct Moments {
  Value *variance, *mean;
};
Moments VarianceOf(Builder& b, Value* x, const std::vector<int64_t>& axes, double correction);
// Number of elements along axes, as a scalar of x's element type.
Value* CountOf(Builder& b, Value* x, const std::vector<int64_t>& axes);

}  // namespace tern::torch
