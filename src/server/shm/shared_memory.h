// System shared memory that clients register. A region is a range of a POSIX shared memory object, which is
// opened by its key.
#pragma once
#include <memory>

#include "server/core/control.h"

namespace tern::server {

// Thread-safe. A memory object stays open as long as ranges of it exist, even after Unregister.
std::unique_ptr<SharedMemoryControl> MakeSharedMemory();

}  // namespace tern::server
