// When the engine's thread pool starts.
#pragma once

namespace tern::server {

// Starts the threads of the engine's pool, unless they run already. Threads inherit the priority of the
// thread that starts them, so threads with another priority must not be the first to use the pool: threads
// that load models have a lower one, and event loops reset a negative niceness in threads that they start.
void StartPool();

}  // namespace tern::server
