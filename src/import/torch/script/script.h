// Reads TorchScript models.
#pragma once
#include <memory>

#include "load/format.h"

namespace tern::torch {

Result<std::unique_ptr<Graph>> ReadScript(const load::Source& source, load::ReadContext& context);

}  // namespace tern::torch
