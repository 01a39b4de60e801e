// Recognises TensorFlow Lite models.
#include <cstdint>
#include <cstring>

#include "load/format.h"

namespace tern::load {
namespace {

// A flatbuffer starts with the offset of its root table. The identifier follows. The offset excludes ONNX
// models that contain the identifier at the same place by chance.
bool IsTensorFlowLite(std::string_view bytes) {
  uint32_t root = 0;
  if (bytes.size() < 8 || bytes.substr(4, 4) != "TFL3") return false;
  std::memcpy(&root, bytes.data(), sizeof root);
  return root >= 8 && root < bytes.size();
}

}  // namespace

TERN_FORMAT(TensorFlowLite) {
  return {.name = "TensorFlow Lite",
          .title = "a TensorFlow Lite model",
          .extensions = {".tflite"},
          .recognise = IsTensorFlowLite,
          .library = "tflite",
          .uses_signature = true};
}

}  // namespace tern::load
