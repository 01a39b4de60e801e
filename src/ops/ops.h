// The table of ops.
#pragma once

namespace tern {

// Fills the op table in the first call. Every entry point of the library calls it.
void InitOps();

}  // namespace tern
