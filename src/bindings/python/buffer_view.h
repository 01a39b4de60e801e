// Views of the memory of Python objects, through the buffer protocol or DLPack.
#pragma once
#include <optional>

#include "bindings/python/feed.h"

namespace tern::python {

// Returns a view of the object's memory without a copy, or nullopt if the object has no contiguous memory of
// a type that Tern knows. With `writable`, the memory must be writable.
std::optional<Tensor> ViewOf(nb::handle object, bool writable, Loans& loans);

}  // namespace tern::python
