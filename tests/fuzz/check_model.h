#pragma once
#include <cstdlib>
#include <memory>

#include "ir/verify.h"

// `graph` is the result of an importer. Aborts if it is an invalid graph or an internal error.
inline void CheckModel(const tern::Result<std::unique_ptr<tern::Graph>>& graph) {
  if (graph.ok() && !tern::VerifyGraph(**graph).ok()) std::abort();
  if (!graph.ok() && graph.status().code() == tern::Code::kInternal) std::abort();
}
