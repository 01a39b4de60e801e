// PyTorch's type promotion.
#pragma once
#include <vector>

#include "import/torch/aten/converter.h"
#include "import/torch/aten/emit.h"

namespace tern::torch {

// Returns the type that torch.promote_types returns for a and b.
DType PromoteTypes(DType a, DType b);
// Returns the type in which an operator computes these operands. Tensors with dims determine the type, unless
// a scalar tensor or a number is of a higher category (bool < int < float).
DType ResultType(const std::vector<const Arg*>& operands);

// Returns an operand in the given type. A number becomes a scalar.
Value* As(AtenNode& n, const Arg& arg, DType dtype);
Value* As(AtenNode& n, std::string_view name, DType dtype);
// Returns the type of a floating-point function of x: ints and bools become f32.
DType FloatOf(DType t);
Value* InFloat(AtenNode& n, std::string_view name);
// Returns an axis in [0, rank), or 0 for a scalar. Reports an error to n.b if it is out of range or if the
// rank is unknown.
int64_t Axis(AtenNode& n, int64_t axis, int rank);
// Returns the axes in [0, rank), sorted, without duplicates.
std::vector<int64_t> Axes(AtenNode& n, const std::vector<int64_t>& axes, int rank);

}  // namespace tern::torch
