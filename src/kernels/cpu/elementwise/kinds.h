// One enum for the functions of the elementwise kernels, which implement the ops Unary, Activation, Gelu and
// Clip.
#pragma once
#include "core/elementwise_kind.h"

namespace tern::cpu {

#define TERN_MORE_KINDS(X) X(kGelu, "gelu") X(kGeluTanh, "gelu_tanh") X(kClip, "clip")
enum class UnaryKind : int {
  TERN_UNARY_KINDS(TERN_KIND_VALUE) TERN_ACTIVATION_KINDS(TERN_KIND_VALUE) TERN_MORE_KINDS(TERN_KIND_VALUE)
};
inline constexpr const char* kUnaryNames[] = {
    TERN_UNARY_KINDS(TERN_KIND_NAME) TERN_ACTIVATION_KINDS(TERN_KIND_NAME) TERN_MORE_KINDS(TERN_KIND_NAME)};
#undef TERN_MORE_KINDS

}  // namespace tern::cpu
