// TensorFlow's messages.
#pragma once
#include "tensorflow.pb.h"

namespace tern::tensorflow {
namespace pb = ::tern_tensorflow;
}
