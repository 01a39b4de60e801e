// Computes Binary on contents: integers of shape computations, which may be symbolic expressions.
#pragma once
#include <optional>

#include "core/elementwise_kind.h"
#include "ir/infer_context.h"

namespace tern {

// Computes kind(a, b) on symbolic elements. A result element that has no expression is unknown. Returns
// nullopt if the function has no symbolic form, or if the sizes of a and b do not broadcast. If `integers` is
// true, division truncates. If it is false, a quotient is known only if it is exact.
std::optional<Content> BinaryContent(BinaryKind kind, const Content& a, const Content& b, bool integers);

}  // namespace tern
