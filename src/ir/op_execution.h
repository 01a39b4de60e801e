// Ops that are executed by a module above the one that declares them.
#pragma once
#include <functional>
#include <string_view>

#include "ir/op_def.h"

namespace tern {

// Sets the reference function of an op that was declared without one. Called once per op, before a graph with
// the op runs. Not thread-safe.
void SetExecution(std::string_view op, std::function<Status(const Attrs&, EvalContext&)> reference);

}  // namespace tern
