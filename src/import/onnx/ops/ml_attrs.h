// Helpers that the converters of ai.onnx.ml share.
#pragma once
#include "import/onnx/require.h"

namespace tern::onnx {

inline constexpr DTypeSet kMlInputs = SetOf(DType::kF32) | SetOf(DType::kF64) | kIndices;

inline Value* ToF32(OnnxNode& n, Value* x) {
  return x->type.dtype == DType::kF32 ? x : n.b.Op("Cast", {x}, {{"to", DType::kF32}});
}

// Returns Tern's name of the attribute post_transform, or "none" if it is absent.
inline Result<std::string> TransformName(const OnnxNode& n) {
  const std::string given = n.Text("post_transform", "NONE");
  static const std::pair<const char*, const char*> kNames[] = {{"NONE", "none"},
                                                               {"SOFTMAX", "softmax"},
                                                               {"LOGISTIC", "logistic"},
                                                               {"SOFTMAX_ZERO", "softmax_zero"},
                                                               {"PROBIT", "probit"}};
  for (const auto& [onnx, tern] : kNames)
    if (given == onnx) return std::string(tern);
  return n.Bad("post_transform '", given, "' is unknown");
}

}  // namespace tern::onnx
