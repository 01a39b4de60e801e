// The table of ops.
#pragma once

namespace tern {

// Fills the op table when it is called for the first time. Every entry point of the library calls it.
// Thread-safe.
void InitOps();

}  // namespace tern
