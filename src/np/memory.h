// Memory of arrays. Blocks of large arrays are reused, because the first access to new pages takes longer
// than many functions.
#pragma once
#include <cstddef>
#include <memory>

namespace tern::v1::np {

// Returns memory that is aligned to 64 bytes and not initialised. Throws std::bad_alloc. Thread-safe.
std::shared_ptr<void> AllocateElements(size_t bytes);

}  // namespace tern::v1::np
