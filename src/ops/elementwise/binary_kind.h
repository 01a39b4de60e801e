// The shape arithmetic of Binary.
#pragma once
#include <optional>

#include "core/elementwise_kind.h"
#include "ir/infer_context.h"

namespace tern {

// Computes kind(a, b) on symbolic elements; nullopt if the function has no symbolic form. Single elements may
// be unknown. integers: division truncates; otherwise it must be exact.
std::optional<Content> BinaryContent(BinaryKind kind, const Content& a, const Content& b, bool integers);

}  // namespace tern
