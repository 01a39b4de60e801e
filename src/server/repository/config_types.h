// Element types of configurations.
#pragma once
#include "base/dtype.h"

namespace inference {
enum DataType : int;
}

namespace tern::server {

DType TypeFromConfig(inference::DataType type);  // kInvalid for TYPE_INVALID and unknown numbers
inference::DataType TypeForConfig(DType dtype);  // TYPE_INVALID for types that clients cannot send

}  // namespace tern::server
