// Starts the engine's thread pool, and threads that do not inherit the priority of their caller.
#pragma once
#include <functional>
#include <thread>

namespace tern::server {

// Starts the threads of the engine's pool, unless they run already. The pool's threads inherit the priority
// of the thread that uses the pool first. So a thread with the priority of the server must call StartPool
// first. Threads that load models have a lower priority, and event loops reset a negative niceness in threads
// that they start.
void StartPool();

// Starts a thread with the priority of the thread that called StartPool or StartThread first. Processes that
// the new thread starts inherit it, too.
std::thread StartThread(std::function<void()> body);

}  // namespace tern::server
