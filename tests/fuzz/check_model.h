#pragma once
#include <cstdlib>
#include <memory>

#include "ir/verify.h"

// Aborts unless an importer returned a valid graph, or an error that is the file's fault.
inline void CheckModel(const tern::Result<std::unique_ptr<tern::Graph>>& graph) {
  if (graph.ok() && !tern::VerifyGraph(**graph).ok()) std::abort();
  if (!graph.ok() && graph.status().code() == tern::Code::kInternal) std::abort();
}
