// What the build contains. This header describes a normal build, which contains everything. A mini build
// (docs/guide/mini.md) generates its own base/selection.h, which the compiler finds first. The functions are
// constexpr, so that the compiler drops the code that a mini build leaves out.
#pragma once
#include <string_view>

namespace tern {

constexpr bool kMini = false;

// Returns whether the build contains the kernel whose name is `name` followed by `suffix`.
constexpr bool HasKernel(std::string_view /*name*/, std::string_view /*suffix*/ = "") { return true; }

// Returns whether the reference evaluator may run nodes of this op that no kernel supports. In a mini build,
// it runs only ops for which a normal build has no kernel either. Other nodes fail with kKernelIsMissing,
// instead of running slowly.
constexpr bool HasReference(std::string_view /*op*/) { return true; }

// Whether the build contains kernels that round their operands to bf16.
constexpr bool kHasBf16Kernels = true;

// Error messages: the end of a message that names an op, and a message about a node.
constexpr const char* kOpIsMissing = "is not known to this version of Tern";
constexpr const char* kKernelIsMissing = "no kernel supports the node and its op has no reference evaluator";

}  // namespace tern
