// The messages of MindIR.
#pragma once
#include "mind_ir.pb.h"

namespace tern::mindir {

namespace pb = tern_mindir;

}  // namespace tern::mindir
