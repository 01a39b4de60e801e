// Reads programs of torch.export (.pt2).
#pragma once
#include "import/torch/archive.h"
#include "load/format.h"

namespace tern::torch {

Result<std::unique_ptr<Graph>> ReadProgram(const Archive& archive, load::ReadContext& context);
bool IsProgram(const Archive& archive);

}  // namespace tern::torch
