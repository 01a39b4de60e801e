// Arithmetic on numbers of the program, such as sizes. Results that do not depend on the model's inputs are
// known numbers; others are computed by the graph.
#pragma once
#include <string_view>

#include "import/torch/aten/call.h"

namespace tern::torch {

// Emits a function of one or two numbers. `kind` is one of
//   add sub mul truediv floordiv mod pow min max eq ne lt le gt ge and or xor  (two numbers)
//   neg abs not to_int to_float to_bool floor ceil round trunc sqrt            (one number)
// The kind of the result follows Python. For example, truediv of two ints is a float. A bool counts as 0 or
// 1.
Result<Arg> ScalarOp(TorchContext& context, std::string_view kind, const std::vector<Arg>& args,
                     const Place& place);

// Returns a number as a scalar (rank 0) of this type. If `dtype` is kInvalid, the type is i64, f32 or bool,
// depending on the kind of the number.
Value* ScalarValue(Builder& b, const Arg& number, DType dtype = DType::kInvalid);
// Returns a list of ints as a vector i64[n].
Value* IntVector(Builder& b, const std::vector<Arg>& ints);
// Returns the size of a dim of x, which is known or computed by the graph. A negative `dim` counts from the
// end, and is allowed only if the rank of x is known.
Arg SizeOf(Builder& b, Value* x, int64_t dim);

}  // namespace tern::torch
