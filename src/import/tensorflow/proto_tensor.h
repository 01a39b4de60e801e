// Converts TensorFlow's types, shapes and tensors.
#pragma once
#include <memory>
#include <string>

#include "core/tensor.h"
#include "core/type.h"
#include "import/tensorflow/messages.h"

namespace tern::tensorflow {

// Maps a number of TensorFlow's DataType. A reference type maps to its element type. Complex types map to c64
// and c128. Resources and variants have no element type: fails for them and for unknown numbers.
Result<DType> DTypeOf(int number);
std::string DTypeText(int number);  // "DT_FLOAT"

// Unknown dims are unknown.
Result<Shape> ShapeOf(const pb::TensorShapeProto& proto);
// All dims must be known.
Result<Dims> DimsOf(const pb::TensorShapeProto& proto);

// Converts a tensor. If the element type is complex, the result has float elements and a last axis of 2.
// Large contents are not copied; the tensor then shares `owner`, which keeps the message alive.
Result<Tensor> TensorOf(const pb::TensorProto& proto, const std::shared_ptr<const void>& owner);

}  // namespace tern::tensorflow
