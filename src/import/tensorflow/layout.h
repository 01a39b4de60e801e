// Moves the channels of a tensor between the last axis, where TensorFlow has them, and axis 1, where Tern's
// convolutions have them.
#pragma once
#include <vector>

#include "ir/builder.h"

namespace tern::tensorflow {

std::vector<int64_t> FirstPerm(int rank);  // [0, rank - 1, 1, …, rank - 2]
std::vector<int64_t> LastPerm(int rank);   // [0, 2, …, rank - 1, 1]
Value* ToChannelsFirst(Builder& b, Value* x);
Value* ToChannelsLast(Builder& b, Value* x);

}  // namespace tern::tensorflow
