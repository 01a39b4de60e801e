// When the engine's thread pool starts.
#pragma once

namespace tern::server {

// Starts the threads of the engine's pool, unless they run already. The pool's threads inherit the priority
// of the thread that uses the pool first, so this must be one with the priority of the server. Threads that
// load models have a lower one, and event loops reset a negative niceness in threads that they start.
void StartPool();

}  // namespace tern::server
