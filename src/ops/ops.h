// The table of ops.
#pragma once

namespace tern {

// Fills the op table once; every entry into the library calls it.
void InitOps();

}  // namespace tern
