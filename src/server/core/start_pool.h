// When the engine's thread pool starts, and threads that do not inherit the priority of their caller.
#pragma once
#include <functional>
#include <thread>

namespace tern::server {

// Starts the threads of the engine's pool, unless they run already. The pool's threads inherit the priority
// of the thread that uses the pool first, so this must be one with the priority of the server. Threads that
// load models have a lower one, and event loops reset a negative niceness in threads that they start.
void StartPool();

// Starts a thread with the priority of the thread that called StartPool first. Processes that the new thread
// starts inherit it, too.
std::thread StartThread(std::function<void()> body);

}  // namespace tern::server
