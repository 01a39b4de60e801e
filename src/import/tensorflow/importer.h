// Imports GraphDef files and SavedModels.
#pragma once
#include "load/format.h"

namespace tern::tensorflow {

Result<std::unique_ptr<Graph>> Read(const load::Source& source, load::ReadContext& context);
std::vector<load::Operator> Operators();

}  // namespace tern::tensorflow
