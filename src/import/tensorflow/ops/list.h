// Lists of tensors: TensorList of TF2 and TensorArray of TF1.
#pragma once
#include "import/tensorflow/converter.h"

namespace tern::tensorflow {

// Returns a list of `count` (i64[1]) elements that are not set. `shape` is their shape, as far as it is
// known.
Edge ReserveList(TfNode& n, DType dtype, const Shape& shape, Value* count);
// Returns the list as a sequence.
Value* SequenceOf(TfNode& n, Edge& list);
Value* ListItem(TfNode& n, Edge& list, Value* index);
Value* ListWith(TfNode& n, Edge& list, Value* index, Value* item);
Value* ListLength(TfNode& n, Edge& list);  // i64[1]
// Returns the elements along a new first axis. `shape` is the shape of an element, as far as it is known.
Value* StackList(TfNode& n, Edge& list, const Shape& shape);
Edge ListFrom(Value* tensor);  // the slices of a tensor along its first axis

}  // namespace tern::tensorflow
