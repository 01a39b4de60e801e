// The table of ops.
#pragma once

namespace tern {

// Fills the op table once. Every entry point of the library calls it.
void InitOps();

}  // namespace tern
