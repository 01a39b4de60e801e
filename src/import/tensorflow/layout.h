// Moves the channels of a tensor between the last axis, where TensorFlow has them, and axis 1, where Tern's
// convolutions have them.
#pragma once
#include <vector>

#include "import/common/emit.h"

namespace tern::tensorflow {

Value* ToChannelsFirst(Builder& b, Value* x);
Value* ToChannelsLast(Builder& b, Value* x);

}  // namespace tern::tensorflow
