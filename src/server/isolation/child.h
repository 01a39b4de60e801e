// The process of an isolated model: loads the model and runs what the server asks for.
#pragma once
#include "server/isolation/channel.h"

namespace tern::server {

// The environment variable that tells the program to be the process of an isolated model.
inline constexpr const char* kChildVariable = "TERN_ISOLATED_MODEL";
inline constexpr int kChildSocket = 3;  // the descriptor of the socket to the server

// Runs until the server closes its end of the socket. Returns the exit code of the process.
int RunChild();

// The same for any socket. `own_process` is false in tests that run this function on a thread. It then does
// not change the process, and refuses a sandbox.
int ServeModel(Channel& server, bool own_process);

}  // namespace tern::server
