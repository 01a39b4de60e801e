// The HTTP/2 session of a connection, with the functions that nghttp2 calls.
#pragma once
#include "server/grpc/grpc_connection.h"

namespace tern::server {

// The connection takes no more data from the session while at least this many bytes wait for the socket.
inline constexpr size_t kFillBytes = size_t{1} << 20;

// Returns null if there is no memory. The session refers to the connection.
SessionPointer MakeSession(GrpcConnection& connection);

}  // namespace tern::server
