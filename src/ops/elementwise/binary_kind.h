// Computes Binary on contents. A content is the elements of a small integer tensor as symbolic expressions.
#pragma once
#include <optional>

#include "core/elementwise_kind.h"
#include "ir/infer_context.h"

namespace tern {

// Computes kind(a, b) for each pair of elements. If no expression describes the result of a pair, this
// element is unknown. Returns nullopt if the function has no symbolic form, or if the sizes of a and b do not
// broadcast. If `integers` is true, division truncates. If it is false, a quotient is known only if it is
// exact.
std::optional<Content> BinaryContent(BinaryKind kind, const Content& a, const Content& b, bool integers);

}  // namespace tern
