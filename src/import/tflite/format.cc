// How a TensorFlow Lite model is recognised.
#include "load/format.h"

namespace tern::load {

TERN_FORMAT(TensorFlowLite) {
  return {.name = "TensorFlow Lite",
          .title = "a TensorFlow Lite model",
          .extensions = {".tflite"},
          .magic = {{4, "TFL3"}},
          .library = "tflite",
          .uses_signature = true};
}

}  // namespace tern::load
