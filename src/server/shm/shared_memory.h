// System shared memory that clients register: POSIX objects, opened by their keys.
#pragma once
#include <memory>

#include "server/core/control.h"

namespace tern::server {

// Thread-safe. A region stays mapped while buffers of it are held, also after Unregister.
std::unique_ptr<SharedMemoryControl> MakeSharedMemory();

}  // namespace tern::server
