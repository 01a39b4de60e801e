// Converts TensorFlow's types, shapes and tensors.
#pragma once
#include <memory>
#include <string>

#include "core/tensor.h"
#include "core/type.h"
#include "import/tensorflow/messages.h"

namespace tern::tensorflow {

// Maps a number of TensorFlow's DataType. A reference type maps to its element type. Complex types map to c64
// and c128. Fails for unknown numbers, and for resources and variants, which have no element type.
Result<DType> DTypeOf(int number);
std::string DTypeText(int number);  // "DT_FLOAT"

// A dim of -1 becomes an unknown dim. Fails for other negative dims.
Result<Shape> ShapeOf(const pb::TensorShapeProto& proto);
// All dims must be known.
Result<Dims> DimsOf(const pb::TensorShapeProto& proto);

// Converts a tensor. If the element type is complex, the result has float elements and a last axis of 2.
// Large contents are not copied. A tensor with large contents shares `owner`, which keeps the message alive.
Result<Tensor> TensorOf(const pb::TensorProto& proto, const std::shared_ptr<const void>& owner);

}  // namespace tern::tensorflow
